#!/usr/bin/env python3
"""Write data/en-zh.tsv, the English-Chinese pairs that come with rapt, and data/try-zh.en.

For whoever wants to train a first translator into Chinese within a minute, or to change what it is trained on.
Not a translator: a small grammar of both languages, a lexicon, and some hand-written everyday sentences. How
sentences are chosen is in pair_choice.py.

    python3 tools/make_pairs_zh.py            writes data/en-zh.tsv and data/try-zh.en
    python3 tools/make_pairs_zh.py -o FILE    writes the pairs to FILE only

So that one English sentence has one Chinese one: "you" is 你 ("you all" is 你们); brothers and sisters are
older or younger (哥哥, 弟弟, 姐姐, 妹妹); "will" is 会 and "going to" is 要; "want to" is 想 and "would like" 想要;
"can" is 会 of a skill and 能 else; "the" is left out or, of an object that something is done to, 把; yes/no questions
end with 吗. Within the script a space stands between Chinese words; the file has none.
"""
import argparse
import re
from pathlib import Path
from typing import NamedTuple

from pair_choice import Chooser

SEED = 11
LEAST = 6           # every word of a generated sentence occurs in at least this many lines of its side
LONGEST = 12        # words of a generated English sentence
DATA = Path(__file__).resolve().parent.parent / "data"
CHOOSER = Chooser(SEED, LEAST)
RNG = CHOOSER.rng

# ---------------------------------------------------------------- hand-written pairs

PHRASES = """
Hello! = 你好！
Hello, everyone! = 大家好！
Hello, Tom! = 汤姆，你好！
Hello, my friend! = 我的朋友，你好！
Good morning! = 早上好！
Good morning, everyone. = 大家早上好。
Good morning, Mary. = 玛丽，早上好。
Good morning, teacher. = 老师早上好。
Good evening! = 晚上好！
Good evening, everyone. = 大家晚上好。
Good evening, Anna. = 安娜，晚上好。
Good night! = 晚安！
Good night, my son. = 晚安，我的儿子。
Good night, Mom. = 妈妈，晚安。
Goodbye! = 再见！
Goodbye, Paul. = 保罗，再见。
Goodbye, see you tomorrow! = 再见，明天见！
See you tomorrow! = 明天见！
See you tonight! = 晚上见！
See you tomorrow morning! = 明天早上见！
See you on Monday! = 星期一见！
See you on Friday! = 星期五见！
See you next week! = 下个星期见！
See you next month! = 下个月见！
See you next year! = 明年见！
See you this afternoon! = 下午见！
See you soon! = 一会儿见！
See you soon, Tom! = 汤姆，一会儿见！
Good luck! = 祝你好运！
Good luck, my friend! = 祝你好运，我的朋友！
Have a good day! = 祝你今天愉快！
Have a good weekend! = 周末愉快！
Have a good weekend, Anna! = 安娜，周末愉快！
Have a good trip! = 祝你旅途愉快！
Happy birthday! = 生日快乐！
Happy birthday, Tom! = 汤姆，生日快乐！
Happy birthday, my daughter! = 生日快乐，我的女儿！
Happy New Year! = 新年快乐！
Happy New Year, everyone! = 祝大家新年快乐！
Happy New Year, teacher! = 老师，新年快乐！
Welcome! = 欢迎！
Welcome to Beijing! = 欢迎来北京！
Welcome to China! = 欢迎来中国！
Welcome to Shanghai! = 欢迎来上海！
Welcome to our home. = 欢迎来我们家。
Welcome to our school. = 欢迎来我们学校。
Welcome back! = 欢迎回来！
How are you? = 你好吗？
How are you today? = 你今天好吗？
Hello, how are you? = 你好，你好吗？
How are you all? = 你们好吗？
How is your mother? = 你妈妈好吗？
How is your father? = 你爸爸好吗？
How is your grandmother? = 你奶奶好吗？
How is your older brother? = 你哥哥好吗？
How are your parents? = 你父母好吗？
How is work? = 工作怎么样？
How was the film? = 电影怎么样？
How was the party? = 晚会怎么样？
How is the weather? = 天气怎么样？
How is the weather today? = 今天天气怎么样？
How was the weather yesterday? = 昨天天气怎么样？
I am fine. = 我很好。
I am fine, thank you. = 我很好，谢谢。
We are fine, thank you. = 我们很好，谢谢。
She is fine, thank you. = 她很好，谢谢。
He is fine, thank you. = 他很好，谢谢。
They are fine, thank you. = 他们很好，谢谢。
And you? = 你呢？
I am fine, and you? = 我很好，你呢？
Thank you! = 谢谢！
Thank you, Mary. = 谢谢你，玛丽。
Thank you very much! = 非常感谢！
Thank you very much, Paul. = 非常感谢，保罗。
Thank you for your help. = 谢谢你的帮助。
Thank you for your letter. = 谢谢你的信。
Thank you for your gift. = 谢谢你的礼物。
Thank you for the coffee. = 谢谢你的咖啡。
Thank you for everything. = 谢谢你做的一切。
Thank you, teacher. = 谢谢老师。
You are welcome. = 不客气。
You are welcome, my friend. = 不客气，我的朋友。
Yes. = 是的。
Yes, of course. = 当然可以。
Of course! = 当然！
No, thank you. = 不用了，谢谢。
Yes, please. = 好的，谢谢。
No problem. = 没问题。
There is no problem. = 没有问题。
I am sorry. = 对不起。
I am really sorry. = 真对不起。
I am sorry, I don't know. = 对不起，我不知道。
I am sorry, I am late. = 对不起，我迟到了。
I am sorry, I can't come. = 对不起，我不能来。
I am sorry, I don't understand. = 对不起，我不明白。
I am sorry, I forgot. = 对不起，我忘了。
Sorry, I don't have time. = 对不起，我没有时间。
It doesn't matter. = 没关系。
Excuse me, what time is it? = 请问，现在几点了？
Excuse me, do you speak English? = 请问，你说英语吗？
Excuse me, what is your name? = 请问，你叫什么名字？
Excuse me, how much is this? = 请问，这个多少钱？
What is your name? = 你叫什么名字？
What is his name? = 他叫什么名字？
What is her name? = 她叫什么名字？
What is your dog's name? = 你的狗叫什么名字？
My name is Tom. = 我叫汤姆。
My name is Anna. = 我叫安娜。
My name is Li Ming. = 我叫李明。
His name is Paul. = 他叫保罗。
Her name is Mary. = 她叫玛丽。
Her name is Wang Fang. = 她叫王芳。
Her name isn't Mary. = 她不叫玛丽。
Is your name Anna? = 你叫安娜吗？
I am happy to meet you. = 认识你很高兴。
We are happy to meet you. = 我们认识你很高兴。
I am happy to see you. = 我很高兴见到你。
I am happy to see you again. = 我很高兴又见到你。
How old are you? = 你多大了？
How old is he? = 他多大了？
How old is she? = 她多大了？
How old is your son? = 你儿子多大了？
How old is your daughter? = 你女儿多大了？
What time is it? = 现在几点了？
What time is it in London? = 伦敦现在几点了？
What time is it in Paris? = 巴黎现在几点了？
What day is it today? = 今天星期几？
What day is it tomorrow? = 明天星期几？
What is the date today? = 今天几号？
It is late. = 很晚了。
It is very late. = 非常晚了。
It is too late. = 太晚了。
It is still early. = 还早。
It is time to go home. = 该回家了。
It is time to eat. = 该吃饭了。
It is time to sleep. = 该睡觉了。
It is time to get up. = 该起床了。
It is time to go to school. = 该上学了。
Get up! = 起床！
Come in! = 请进！
Come in, please. = 请进来。
Sit down, please. = 请坐。
Please stand up. = 请站起来。
Please wait. = 请等一下。
Please wait for me. = 请等我一下。
Wait a minute. = 等一下。
Please help me. = 请帮助我。
Please listen. = 请听。
Please listen to me. = 请听我说。
Please be quiet. = 请安静。
Please speak slowly. = 请慢慢说。
Please say it again. = 请再说一遍。
Please read it again. = 请再读一遍。
Please come here. = 请到这儿来。
Please come with me. = 请跟我来。
Please come again. = 欢迎再来。
Please call me tomorrow. = 请明天给我打电话。
Please call me tonight. = 请今天晚上给我打电话。
Please write to me. = 请给我写信。
Please tell me. = 请告诉我。
Please tell me your name. = 请告诉我你的名字。
Please tell him. = 请告诉他。
Please look at this photo. = 请看这张照片。
Look! = 看！
Look at me! = 看着我！
Look at that bird! = 看那只鸟！
Listen! = 听！
Be careful! = 小心！
Be careful on the street. = 在街上要小心。
Hurry up! = 快点儿！
Let's go! = 我们走吧！
Let's go home. = 我们回家吧。
Let's eat! = 我们吃饭吧！
Let's begin. = 我们开始吧。
Let's take a rest. = 我们休息一下吧。
Let's try again. = 我们再试一次吧。
Don't worry! = 别担心！
Don't worry, I will help you. = 别担心，我会帮助你。
Don't cry. = 别哭。
Don't be late. = 别迟到。
Don't be afraid. = 别害怕。
Don't forget! = 别忘了！
Don't forget me. = 别忘了我。
Don't forget to call me. = 别忘了给我打电话。
Don't talk. = 别说话。
What is this? = 这是什么？
What is that? = 那是什么？
What are these? = 这些是什么？
Who is this? = 这是谁？
Who is he? = 他是谁？
Who is she? = 她是谁？
Who are you? = 你是谁？
Who are they? = 他们是谁？
Who is there? = 谁在那儿？
Who is your teacher? = 谁是你的老师？
Who told you? = 谁告诉你的？
Who is coming? = 谁要来？
Where are you? = 你在哪儿？
Where is he? = 他在哪儿？
Where is she? = 她在哪儿？
Where are we? = 我们在哪儿？
Where are they? = 他们在哪儿？
Where are the children? = 孩子们在哪儿？
Where are you going? = 你去哪儿？
Where is she going? = 她去哪儿？
Where are you from? = 你是从哪儿来的？
Where is he from? = 他是从哪儿来的？
Where is she from? = 她是从哪儿来的？
Where did you buy this coat? = 你在哪儿买的这件大衣？
Where did you buy this book? = 你在哪儿买的这本书？
Where did you meet him? = 你在哪儿认识他的？
When are you coming? = 你什么时候来？
When is he coming? = 他什么时候来？
When is she coming back? = 她什么时候回来？
When are you coming back? = 你什么时候回来？
When are you leaving? = 你什么时候走？
When did you arrive? = 你什么时候到的？
When did he arrive? = 他什么时候到的？
When does the lesson begin? = 什么时候上课？
Why? = 为什么？
Why not? = 为什么不呢？
Why are you late? = 你为什么迟到了？
Why is he late? = 他为什么迟到了？
Why are you crying? = 你为什么哭？
Why is she crying? = 她为什么哭？
Why are you laughing? = 你为什么笑？
Why is the child crying? = 孩子为什么哭？
Why did you do that? = 你为什么那样做？
Why don't you come with us? = 你为什么不跟我们来？
How do you say this in Chinese? = 这个用汉语怎么说？
How do you say this in English? = 这个用英语怎么说？
How do you write this word? = 这个词怎么写？
How do I get to the station? = 去车站怎么走？
How do I get to the airport? = 去机场怎么走？
How do I get to the bank? = 去银行怎么走？
How much is this? = 这个多少钱？
How much is that? = 那个多少钱？
How much are the apples? = 苹果多少钱？
How far is it? = 有多远？
How far is the airport? = 机场有多远？
How many people are there? = 有多少人？
How many people are there in your family? = 你家有几口人？
There are four people in my family. = 我家有四口人。
There are five people in my family. = 我家有五口人。
What do you want? = 你想要什么？
What does he want? = 他想要什么？
What would you like? = 你想要什么？
What would you like to eat? = 你想吃什么？
What would you like to drink? = 你想喝什么？
What are you doing? = 你在做什么？
What is he doing? = 他在做什么？
What is she doing? = 她在做什么？
What are they doing? = 他们在做什么？
What are you doing tomorrow? = 你明天做什么？
What are you doing tonight? = 你今天晚上做什么？
What did you do yesterday? = 你昨天做什么了？
What did you say? = 你说什么？
What did he say? = 他说了什么？
What happened? = 发生了什么事？
What is the matter? = 怎么了？
What is the matter with him? = 他怎么了？
What is the matter with her? = 她怎么了？
What do you think? = 你觉得怎么样？
What does this word mean? = 这个词是什么意思？
What does it mean? = 这是什么意思？
What do you do? = 你做什么工作？
What does your father do? = 你爸爸做什么工作？
What does your mother do? = 你妈妈做什么工作？
What is your favorite color? = 你最喜欢什么颜色？
What is your favorite food? = 你最喜欢吃什么？
What is your favorite book? = 你最喜欢哪本书？
Do you understand? = 你明白吗？
Do you all understand? = 你们明白吗？
Does he understand? = 他明白吗？
I understand. = 我明白了。
Now I understand. = 现在我明白了。
I don't understand. = 我不明白。
She doesn't understand. = 她不明白。
I don't understand you. = 我不明白你的意思。
I know. = 我知道。
I don't know. = 我不知道。
He doesn't know. = 他不知道。
Who knows? = 谁知道？
Nobody knows. = 没有人知道。
I know him. = 我认识他。
I don't know her. = 我不认识她。
Do you know them? = 你认识他们吗？
I think so. = 我也这么想。
I don't think so. = 我不这么想。
I hope so. = 希望如此。
I love you. = 我爱你。
I love my family. = 我爱我的家。
She loves him. = 她爱他。
He loves her. = 他爱她。
They love each other. = 他们相爱。
I miss you. = 我想你。
We miss you. = 我们想你。
I miss my mother. = 我想妈妈。
I miss home. = 我想家。
You are right. = 你说得对。
He is right. = 他说得对。
You are wrong. = 你错了。
I was wrong. = 我错了。
That is right. = 对。
That is true. = 那是真的。
Is it true? = 是真的吗？
It isn't true. = 不是真的。
It is possible. = 有可能。
That is impossible. = 那不可能。
It is important. = 很重要。
It isn't important. = 不重要。
It is very easy. = 非常容易。
It is too expensive. = 太贵了。
It is too expensive for me. = 对我来说太贵了。
Can it be cheaper? = 可以便宜一点儿吗？
It is not far. = 不远。
It is very far. = 很远。
Is it far from here? = 离这儿远吗？
The station isn't far from here. = 车站离这儿不远。
The bank is far from here. = 银行离这儿很远。
My home is near here. = 我家离这儿很近。
I am hungry. = 我饿了。
I am thirsty. = 我渴了。
I am tired. = 我累了。
I am full. = 我吃饱了。
I am ready. = 我准备好了。
We are ready. = 我们准备好了。
Are you ready? = 你准备好了吗？
Are you all ready? = 你们准备好了吗？
I am sick. = 我生病了。
He is sick. = 他生病了。
She is sick today. = 她今天生病了。
My son is sick. = 我儿子生病了。
I have a cold. = 我感冒了。
He has a cold. = 他感冒了。
I have a headache. = 我头疼。
She has a headache. = 她头疼。
My stomach hurts. = 我肚子疼。
I am busy now. = 我现在很忙。
I am at home. = 我在家。
I am at work. = 我在上班。
He isn't at home. = 他不在家。
She isn't here. = 她不在这儿。
Is anybody at home? = 家里有人吗？
He is my friend. = 他是我的朋友。
She is my friend. = 她是我的朋友。
They are my friends. = 他们是我的朋友。
We are friends. = 我们是朋友。
We are good friends. = 我们是好朋友。
She is my wife. = 她是我妻子。
He is her husband. = 他是她丈夫。
This is my wife. = 这是我妻子。
This is my father. = 这是我爸爸。
This is my mother. = 这是我妈妈。
This is my younger sister. = 这是我妹妹。
This is my friend Tom. = 这是我的朋友汤姆。
He is married. = 他结婚了。
Are you married? = 你结婚了吗？
He has no friends. = 他没有朋友。
I have no time. = 我没有时间。
I have no money. = 我没有钱。
I don't have much money. = 我没有很多钱。
Do you have time? = 你有时间吗？
Do you have time tomorrow? = 你明天有时间吗？
Do you have any questions? = 你有问题吗？
I have a question. = 我有一个问题。
I have an idea. = 我有一个主意。
That is a good idea! = 好主意！
Anything else? = 还要别的吗？
Nothing else, thank you. = 不要别的了，谢谢。
The bill, please. = 请结账。
It tastes very good. = 味道很好。
Cheers! = 干杯！
I can't eat any more. = 我吃不下了。
I can't sleep. = 我睡不着。
I can't hear you. = 我听不见。
I can't see anything. = 我什么也看不见。
I didn't hear you. = 我没听见。
I can do it. = 我能行。
I will try. = 我试试看。
I will wait here. = 我在这儿等。
I will think about it. = 我会想一想。
I will be back soon. = 我很快就回来。
I am coming! = 我来了！
He is coming! = 他来了！
The bus is coming. = 公共汽车来了。
I am going home. = 我要回家了。
I am home. = 我回来了。
I have to go now. = 我现在得走了。
She has already gone. = 她已经走了。
They have already eaten. = 他们已经吃了。
I have already eaten. = 我已经吃了。
He hasn't come yet. = 他还没来。
Have you eaten? = 你吃了吗？
Not yet. = 还没有。
Me too. = 我也是。
Maybe. = 也许吧。
Maybe tomorrow. = 也许明天吧。
Really? = 真的吗？
Great! = 太好了！
How beautiful! = 真漂亮！
What a pity! = 真可惜！
Congratulations! = 恭喜你！
Take care! = 保重！
Get well soon! = 祝你早日康复！
I agree. = 我同意。
I don't agree. = 我不同意。
We won! = 我们赢了！
We lost. = 我们输了。
It is raining. = 下雨了。
It is snowing. = 下雪了。
It stopped raining. = 雨停了。
The sun is shining. = 阳光很好。
The weather is nice today. = 今天天气很好。
The weather was bad yesterday. = 昨天天气不好。
The train is late. = 火车晚点了。
The bus is late. = 公共汽车晚点了。
The film is over. = 电影结束了。
The lesson is over. = 下课了。
Lunch is ready. = 午饭做好了。
Dinner is ready. = 晚饭做好了。
The baby is asleep. = 宝宝睡着了。
Nobody is here. = 这儿没有人。
Everybody likes him. = 大家都喜欢他。
Everybody is here. = 大家都在这儿。
Everything is ready. = 一切都准备好了。
I was born in Shanghai. = 我出生在上海。
She was born in Beijing. = 她出生在北京。
I grew up in China. = 我在中国长大。
I come from a small village. = 我来自一个小村子。
I speak a little Chinese. = 我会说一点儿汉语。
My Chinese isn't very good. = 我的汉语不太好。
Your English is very good. = 你的英语很好。
Chinese is very interesting. = 汉语很有意思。
"""

# ---------------------------------------------------------------- lexicon

# "class: English singular[/plural] measure word Chinese, ..."
NOUNS = {
    "vehicle": "car 辆 汽车, bike 辆 自行车, boat 条 船",
    "furniture": "table 张 桌子, chair 把 椅子, bed 张 床, lamp 盏 灯",
    "device": "phone 部 手机, computer 台 电脑, watch/watches 块 手表, camera 台 照相机",
    "clothes": "shirt 件 衬衫, coat 件 大衣, hat 顶 帽子, dress/dresses 条 裙子, jacket 件 外套",
    "holder": "bag 个 包, suitcase 个 箱子, box/boxes 个 盒子",
    "dish": "cup 个 杯子, bottle 个 瓶子, plate 个 盘子, bowl 个 碗",
    "small": "umbrella 把 雨伞, key 把 钥匙, pen 支 笔, ticket 张 票, map 张 地图",
    "paper": "book 本 书, letter 封 信, newspaper 份 报纸, photo 张 照片, magazine 本 杂志",
    "present": "gift 件 礼物",
    "animal": "dog 只 狗, cat 只 猫, bird 只 鸟, horse 匹 马",
    "plant": "flower 朵 花, tree 棵 树",
    "fruit": "apple 个 苹果, orange 个 橙子, banana 根 香蕉, egg 个 鸡蛋, cake 个 蛋糕",
    "house": "house 座 房子",
    "public": "library/libraries 个 图书馆, museum 个 博物馆, bank 家 银行, restaurant 家 饭馆, hotel 家 酒店, "
              "shop 家 商店, hospital 家 医院, cinema 家 电影院, supermarket 家 超市",
    "place": "park 个 公园, school 所 学校, station 个 车站, market 个 市场, airport 个 机场, bridge 座 桥",
    "room": "kitchen 个 厨房, bedroom 个 卧室, classroom 个 教室, garden 个 花园, office 个 办公室",
    "opening": "door 扇 门, window 扇 窗户",
    "study": "question 个 问题, lesson 节 课, exercise 个 练习, word 个 词",
    "show": "film 部 电影, song 首 歌, story/stories 个 故事",
    "kin": "father 个 爸爸, mother 个 妈妈, older_brother 个 哥哥, younger_brother 个 弟弟, older_sister 个 姐姐, "
           "younger_sister 个 妹妹, grandfather 个 爷爷, grandmother 个 奶奶, son 个 儿子, daughter 个 女儿, "
           "uncle 个 叔叔, aunt 个 阿姨",
    "person": "friend 个 朋友, teacher 位 老师, doctor 位 医生, student 个 学生, neighbor 个 邻居, child/children 个 孩子, "
              "boy 个 男孩, girl 个 女孩",
    "unit": "minute - 分钟, hour 个 小时, day - 天, week 个 星期, month 个 月, year - 年",
}

# Without a plural or a measure word.
MASS = {
    "food": "rice 米饭, bread 面包, meat 肉, fish 鱼, soup 汤, fruit 水果, cheese 奶酪",
    "counted food": "noodles 面条, dumplings 饺子, vegetables 蔬菜",
    "drink": "water 水, milk 牛奶, coffee 咖啡, tea 茶, juice 果汁, beer 啤酒",
}

# "English: Chinese before a noun; nouns and classes it goes with"
ADJECTIVES = """
new: 新; vehicle device clothes holder furniture house book newspaper magazine photo
old: 旧; vehicle device clothes holder furniture
big: 大; furniture holder dish animal house room public place fruit
small: 小; furniture holder dish animal house room public place
good: 好; show book restaurant doctor teacher question
beautiful: 漂亮 的; clothes house garden bird flower photo bridge
interesting: 有趣 的; show book magazine question lesson
expensive: 贵 的; device vehicle clothes restaurant hotel
cheap: 便宜 的; device clothes restaurant hotel
red: 红色 的; vehicle clothes holder flower pen
blue: 蓝色 的; vehicle clothes holder cup umbrella
white: 白色 的; vehicle clothes animal plate flower
black: 黑色 的; vehicle clothes animal umbrella holder
difficult: 难 的; question exercise word
easy: 容易 的; question exercise lesson
comfortable: 舒服 的; chair bed hotel
"""

# What one says of what: "English/Chinese ...: nouns".
SAYINGS = """
new/新 old/旧 expensive/贵 cheap/便宜: car bike boat phone computer watch camera table chair bed lamp
clean/干净 dirty/脏 beautiful/漂亮 expensive/贵 cheap/便宜: shirt coat hat dress jacket
big/大 small/小 heavy/重 light/轻: bag suitcase box bottle
clean/干净 dirty/脏: cup plate bowl table kitchen bedroom classroom office window
big/大 small/小 quiet/安静 beautiful/漂亮: park garden library museum school hotel
big/大 small/小 far/远 near/近: bank restaurant hospital cinema supermarket market station airport
big/大 comfortable/舒服 beautiful/漂亮: house bedroom
easy/容易 difficult/难 interesting/有趣 important/重要: question lesson exercise
interesting/有趣 good/好 long/长: book film story
hot/热 cold/冷 good/好: soup water coffee tea milk
delicious/好吃 expensive/贵 cheap/便宜: apple orange banana cake bread meat fish rice
big/大 small/小 clever/聪明 beautiful/漂亮: dog cat bird horse
comfortable/舒服: chair bed
long/长 interesting/有趣: letter
"""
TRAITS = "tall/高, young/年轻, kind/善良, clever/聪明, strong/强壮, beautiful/漂亮, happy/高兴, busy/忙, tired/累, hungry/饿"
MOODS = "happy/高兴, busy/忙, tired/累, hungry/饿, thirsty/渴, sad/难过, nervous/紧张"
COMPARED = ("tall taller tallest 高, young younger youngest 年轻, busy busier busiest 忙, strong stronger strongest 强壮, "
            "happy happier happiest 高兴, kind kinder kindest 善良, clever cleverer cleverest 聪明")
COMPARED_THINGS = """
big bigger biggest 大: house park school library dog cat suitcase box bag bedroom
small smaller smallest 小: house park school library dog cat suitcase box bag bedroom
new newer newest 新: car bike phone computer camera
old older oldest 旧: car bike phone computer camera
cheap cheaper cheapest 便宜: car bike phone computer coat dress shirt watch hotel restaurant
heavy heavier heaviest 重: suitcase box bag bottle
long longer longest 长: book film story lesson letter
easy easier easiest 容易: question exercise lesson
"""

PERSONS = """
I - 我 my am
you - 你 your are
he s 他 his is
she s 她 her is
we - 我们 our are
you_all - 你们 your are
they - 他们 their are
"""
OBJECTS = "me/我, you/你, him/他, her/她, us/我们, them/他们"
NAMES = "Tom/汤姆, Mary/玛丽, Anna/安娜, Paul/保罗, Li_Ming/李明, Wang_Fang/王芳"

# "base third past participle -ing Chinese".
VERBS = """
eat eats ate eaten eating 吃
drink drinks drank drunk drinking 喝
buy buys bought bought buying 买
sell sells sold sold selling 卖
read reads read read reading 看
watch watches watched watched watching 看
see sees saw seen seeing 看见
write writes wrote written writing 写
draw draws drew drawn drawing 画
make makes made made making 做
cook cooks cooked cooked cooking 做
do does did done doing 做
learn learns learned learned learning 学
study studies studied studied studying 学习
wash washes washed washed washing 洗
clean cleans cleaned cleaned cleaning 打扫
wear wears wore worn wearing 穿
carry carries carried carried carrying 拿
look_for looks_for looked_for looked_for looking_for 找
find finds found found finding 找到
wait_for waits_for waited_for waited_for waiting_for 等
listen_to listens_to listened_to listened_to listening_to 听
play plays played played playing 玩
repair repairs repaired repaired repairing 修
help helps helped helped helping 帮助
call calls called called calling 给
visit visits visited visited visiting 参观
take takes took taken taking 坐
sing sings sang sung singing 唱歌
dance dances danced danced dancing 跳舞
swim swims swam swum swimming 游泳
run runs ran run running 跑步
walk walks walked walked walking 散步
sleep sleeps slept slept sleeping 睡觉
work works worked worked working 工作
rest rests rested rested resting 休息
like likes liked liked liking 喜欢
love loves loved loved loving 爱
know knows knew known knowing 知道
go goes went gone going 去
come comes came come coming 来
choose chooses chose chosen choosing 选
borrow borrows borrowed borrowed borrowing 借
"""

# "verb tenses | a: nouns | mass: nouns | =: fixed objects English/Chinese verb and object | @ places". The Chinese verb comes
# from VERBS, or is in the fixed object. Tenses: P present habit, G -ing, D past, F future and infinitive.
ACTIONS = """
eat PGDF | a: apple orange banana egg cake | mass: rice bread meat fish noodles dumplings vegetables fruit
    | =: breakfast/吃 早饭, lunch/吃 午饭, dinner/吃 晚饭 | @ kitchen home restaurant garden
drink PGDF | mass: water milk coffee tea juice beer soup | @ kitchen home restaurant garden
buy PDF | a: car bike phone computer watch camera coat hat dress jacket shirt umbrella gift book map ticket table lamp
    | mass: bread meat fish milk fruit vegetables rice | @ supermarket market
read PGDF | a: book letter newspaper magazine | @ home library garden bedroom
write PGDF | a: letter story | @ home bedroom office
draw GDF | a: horse bird house flower tree cat dog | @ classroom garden
watch PGDF | a: film | =: television/看 电视, football/看 足球 | @ home bedroom
see D | a: bird horse dog cat | @ park
cook PGDF | =: dinner/做 晚饭, lunch/做 午饭, breakfast/做 早饭, noodles/做 面条 | @ kitchen home
make DF | a: cake | @ kitchen
do PGDF | =: homework/做 作业, housework/做 家务 | @ home
learn PGF | =: English/学 英语, Chinese/学 汉语, French/学 法语 | @ school home
study PGDF | =: / | @ library home classroom school
find D | a: key umbrella hotel restaurant pen
choose DF | a: gift dress coat book film hotel
borrow DF | a: book umbrella pen magazine bike
listen_to PGDF | a: song story | =: music/听 音乐 | @ home bedroom garden
play PGDF | =: football/踢 足球, basketball/打 篮球, tennis/打 网球, the_piano/弹 钢琴, the_guitar/弹 吉他 | @ school
take PDF | =: the_bus/坐 公共汽车, the_train/坐 火车, the_subway/坐 地铁, a_taxi/坐 出租车
visit DF | a: museum school | =: Beijing/去 北京, Shanghai/去 上海
sing PGDF | =: / | @ garden kitchen classroom
dance PGDF | =: / | @ park garden
swim PGDF | =: / | @ sea pool
run PGDF | =: / | @ park
walk PGDF | =: / | @ park garden beach
sleep GDF | =: / | @ home bedroom garden
work PGDF | =: / | @ home office garden library hospital
rest GDF | =: / | @ home bedroom garden
"""
PLACES = """
kitchen: in the kitchen/在 厨房 里
home: at home/在 家 里
garden: in the garden/在 花园 里
bedroom: in the bedroom/在 卧室 里
restaurant: at the restaurant/在 饭馆
library: at the library/在 图书馆
office: in the office/在 办公室
classroom: in the classroom/在 教室 里
school: at school/在 学校
park: in the park/在 公园 里
market: at the market/在 市场
supermarket: at the supermarket/在 超市
hospital: at the hospital/在 医院
sea: in the sea/在 海 里
pool: in the pool/在 游泳池 里
beach: on the beach/在 海滩 上
"""

PHRASES_BY_NAME = """
past: yesterday/昨天, last night/昨天 晚上, this morning/今天 早上, yesterday afternoon/昨天 下午,
    last week/上 个 星期, last month/上 个 月, last year/去年, on Sunday/星期天, on Monday/星期一
future: tomorrow/明天, tonight/今天 晚上, tomorrow morning/明天 早上, this afternoon/今天 下午,
    this weekend/这 个 周末, next week/下 个 星期, next month/下 个 月, next year/明年
soon: tomorrow/明天, tonight/今天 晚上, tomorrow morning/明天 早上, this afternoon/今天 下午, this weekend/这 个 周末
before: yesterday/昨天, last night/昨天 晚上, this morning/今天 早上, yesterday afternoon/昨天 下午
daily: every day/每 天, every morning/每 天 早上, every evening/每 天 晚上
habit: every day/每 天, every morning/每 天 早上, every evening/每 天 晚上, every week/每 个 星期, in summer/夏天,
    in winter/冬天
now: now/现在, today/今天
frequency: often/经常, always/总是, sometimes/有时候, usually/通常
day: Monday/星期一, Tuesday/星期二, Wednesday/星期三, Thursday/星期四, Friday/星期五, Saturday/星期六, Sunday/星期天
month: January/一月, March/三月, May/五月, July/七月, August/八月, October/十月, December/十二月
number: two/两, three/三, four/四, five/五, six/六, seven/七, eight/八, nine/九, ten/十
up: five/五, six/六, seven/七, eight/八
bed: eight/八, nine/九, ten/十, eleven/十一
big number: twelve/十二, fifteen/十五, twenty/二十, thirty/三十, fifty/五十
price: five/五, eight/八, ten/十, twelve/十二, twenty/二十, thirty/三十, fifty/五十, a hundred/一百
city: Beijing/北京, Shanghai/上海, Guangzhou/广州, Paris/巴黎, London/伦敦
country: China/中国, France/法国, England/英国, Japan/日本, Canada/加拿大
language: English/英语, Chinese/汉语, French/法语, Japanese/日语
job: a doctor/医生, a teacher/老师, a student/学生, a singer/歌手, a driver/司机, a nurse/护士, a cook/厨师
ride: by bus/坐 公共汽车, by train/坐 火车, by car/开车, by bike/骑 自行车, by subway/坐 地铁, on foot/走路
far ride: by train/坐 火车, by plane/坐 飞机, by car/开车
to: to the park/公园, to the library/图书馆, to the museum/博物馆, to the bank/银行, to the hospital/医院,
    to the cinema/电影院, to the supermarket/超市, to the station/车站, to the airport/机场, to the beach/海滩,
    to school/学校, to the market/市场, to the office/办公室
liked: music/音乐, football/足球, summer/夏天, winter/冬天, spring/春天, coffee/咖啡, tea/茶, milk/牛奶, fruit/水果, cats/猫,
    dogs/狗, flowers/花, fish/鱼, meat/肉, noodles/面条, dumplings/饺子, this city/这 个 城市, this song/这 首 歌,
    this film/这 部 电影, this book/这 本 书, this color/这 个 颜色
hobby: swimming/游泳, dancing/跳舞, singing/唱歌, running/跑步, drawing/画画, cooking/做饭, traveling/旅行,
    reading books/看 书, watching films/看 电影, listening to music/听 音乐, playing basketball/打 篮球,
    playing the piano/弹 钢琴, playing tennis/打 网球
skill: swim/游泳, dance/跳舞, sing/唱歌, draw/画画, cook/做饭, drive/开车, play the piano/弹 钢琴, play the guitar/弹 吉他,
    play tennis/打 网球, play basketball/打 篮球, speak English/说 英语, speak Chinese/说 汉语, speak French/说 法语,
    ride a bike/骑 自行车
deed: go home/回家, rest/休息, sleep/睡觉, go shopping/去 买 东西, go swimming/去 游泳, go out/出去, come/来,
    study/学习, work/工作, see a doctor/去 看 医生, cook dinner/做 晚饭, do homework/做 作业, get up early/早 起,
    leave/走, stay at home/待 在 家 里, buy a gift/买 一 件 礼物, drink some water/喝 一点儿 水
amount: a cup of/一 杯/coffee tea water milk, a bottle of/一 瓶/water milk juice beer, a bowl of/一 碗/rice soup noodles,
    a kilo of/一 公斤/meat fish fruit vegetables, a piece of/一 块/bread cheese meat, two cups of/两 杯/coffee tea,
    two bottles of/两 瓶/water beer juice, three bowls of/三 碗/rice noodles, some/一点儿/water milk tea bread fruit meat
color: red/红色, blue/蓝色, white/白色, black/黑色, green/绿色, yellow/黄色
colored: car, bike, shirt, coat, hat, dress, jacket, bag, suitcase, umbrella
owned: car, bike, phone, computer, house, dog, cat, watch, umbrella, suitcase, coat, hat, ticket, lamp, camera
one's own: bag, book, bed, letter, photo, pen, cup, bedroom, office, key
counted: book, dog, cat, apple, orange, photo, ticket, pen, key, friend, older_brother, younger_sister, child
wanted: car, bike, phone, computer, house, dog, cat, table, chair, lamp, coat, umbrella, ticket, suitcase, book
given: book, key, letter, photo, gift, ticket, watch, umbrella, newspaper, pen, bag, map
handed: book, key, pen, cup, plate, umbrella, newspaper, bag, bowl, map
lying: key, book, letter, phone, bag, umbrella, hat, cup, bottle, watch, newspaper, pen, photo, plate, map, ticket
lies: key, book, letter, bag, umbrella, hat, cat, dog, cup, bottle, watch, newspaper, pen, photo, gift, plate, box
spot: on the table/桌子 上, on the chair/椅子 上, on the bed/床 上, under the table/桌子 下面, under the chair/椅子 下面,
    under the bed/床 下面, in the bag/包 里, in the box/盒子 里, in the suitcase/箱子 里, in the car/汽车 里,
    in the bedroom/卧室 里, in the kitchen/厨房 里, behind the door/门 后面, next to the computer/电脑 旁边,
    next to the lamp/灯 旁边
in town: bank, library, museum, restaurant, hotel, hospital, cinema, supermarket, station, market, park, school
beside: next to/旁边, behind/后面, in front of/前面, opposite/对面
shop: shop, bank, museum, library, supermarket, restaurant
taken up: wash the clothes/把 衣服 洗 干净, close the door/把 门 关上, close the window/把 窗户 关上,
    open the door/把 门 打开, open the window/把 窗户 打开, turn on the lamp/把 灯 打开, turn off the lamp/把 灯 关上,
    turn off the computer/把 电脑 关上, turn on the television/把 电视 打开, turn off the television/把 电视 关上,
    clean the kitchen/把 厨房 打扫 干净, clean the bedroom/把 卧室 打扫 干净, wash the car/把 汽车 洗 干净,
    wash the plates/把 盘子 洗 干净, open the box/把 盒子 打开, finish the homework/把 作业 做 完,
    repair the computer/把 电脑 修 好, repair the bike/把 自行车 修 好
taken up before: washed the clothes/把 衣服 洗 干净, closed the door/把 门 关上, closed the window/把 窗户 关上,
    opened the door/把 门 打开, opened the window/把 窗户 打开, turned off the lamp/把 灯 关上,
    turned off the computer/把 电脑 关上, turned off the television/把 电视 关上, cleaned the kitchen/把 厨房 打扫 干净,
    cleaned the bedroom/把 卧室 打扫 干净, washed the car/把 汽车 洗 干净, washed the plates/把 盘子 洗 干净,
    finished the homework/把 作业 做 完, finished the book/把 书 看 完, repaired the computer/把 电脑 修 好,
    repaired the bike/把 自行车 修 好, sold the car/把 汽车 卖, sold the house/把 房子 卖, ate the cake/把 蛋糕 吃,
    ate the apple/把 苹果 吃, drank the milk/把 牛奶 喝 完, broke the cup/把 杯子 打碎, broke the window/把 窗户 打碎,
    broke the plate/把 盘子 打碎, lost the key/把 钥匙 弄丢, lost the ticket/把 票 弄丢, lost the umbrella/把 雨伞 弄丢
weather: it is cold/很 冷, it is hot/很 热, it is raining/在 下雨, it is snowing/在 下雪, it is windy/风 很 大,
    it isn't cold/不 冷, it isn't hot/不 热, it is very cold/非常 冷, it is very hot/非常 热
weather was: it was cold/很 冷, it was hot/很 热, it rained/下雨 了, it snowed/下雪 了, it didn't rain/没 下雨,
    it didn't snow/没 下雪, it was windy/风 很 大
weather will be: it will rain/会 下雨, it will snow/会 下雪, it will be cold/会 很 冷, it will be hot/会 很 热,
    it won't rain/不 会 下雨, it won't snow/不 会 下雪
weather is it: is it cold/冷 吗, is it hot/热 吗, is it raining/在 下雨 吗, is it snowing/在 下雪 吗
often in summer: it is often hot/经常 很 热, it often rains/经常 下雨, it never snows/从来 不 下雪, it is very hot/非常 热
often in winter: it is often cold/经常 很 冷, it often snows/经常 下雪, it sometimes rains/有时候 下雨, it is very cold/非常 冷
starts: the film/电影, the party/晚会, the match/比赛, the meeting/会议
run late: the bus/公共汽车, the train/火车
tried: eaten dumplings/吃 过 饺子, eaten noodles/吃 过 面条, been to Beijing/去 过 北京, been to Shanghai/去 过 上海,
    been to Paris/去 过 巴黎, been to China/去 过 中国, been to Japan/去 过 日本, been to London/去 过 伦敦,
    seen this film/看 过 这 部 电影, read this book/看 过 这 本 书, heard this song/听 过 这 首 歌,
    ridden a horse/骑 过 马, learned French/学 过 法语, learned Japanese/学 过 日语, seen the sea/看 过 海,
    taken a plane/坐 过 飞机, drunk this tea/喝 过 这 种 茶
reason: I am sick/我 生病 了, I am tired/我 很 累, I am busy/我 很 忙, it is raining/在 下雨, it is cold/天气 很 冷,
    it is late/太 晚 了, I am hungry/我 很 饿, I have no time/我 没有 时间, I have a lot of work/我 有 很多 工作
reason he: HE is sick/他 生病 了, HE is tired/他 很 累, HE is busy/他 很 忙, it is raining/在 下雨, it is cold/天气 很 冷,
    it is late/太 晚 了, HE has no time/他 没有 时间, HE has a lot of work/他 有 很多 工作
result: I am staying at home/我 待 在 家 里, I am drinking tea/我 在 喝 茶, I am going to bed/我 要 去 睡觉,
    I am going home/我 要 回家, I can't come/我 不 能 来, I can't go out/我 不 能 出去,
    I don't want to work/我 不 想 工作, I don't want to go out/我 不 想 出去, I am not going to school/我 不 去 学校
result he: HE is staying at home/他 待 在 家 里, HE is drinking tea/他 在 喝 茶, HE is going home/他 要 回家,
    HE can't come/他 不 能 来, HE can't go out/他 不 能 出去, HE doesn't want to work/他 不 想 工作,
    HE doesn't want to go out/他 不 想 出去, HE isn't going to school/他 不 去 学校
if: it rains/下雨, it snows/下雪, it is cold/天气 很 冷, it is hot/天气 很 热, I have time/我 有 时间, I am tired/我 很 累,
    I am hungry/我 很 饿, you come/你 来, you have time/你 有 时间, he doesn't come/他 不 来, she comes/她 来
then: we will stay at home/我们 就 待 在 家 里, I will stay at home/我 就 待 在 家 里, I will read a book/我 就 看 一 本 书,
    we will go to the park/我们 就 去 公园, I will go to the cinema/我 就 去 电影院, we will go swimming/我们 就 去 游泳,
    I will help you/我 就 帮助 你, I will call you/我 就 给 你 打 电话, we will take the bus/我们 就 坐 公共汽车,
    I will cook dinner/我 就 做 晚饭, I will go home/我 就 回家
although: it is raining/在 下雨, it is cold/天气 很 冷, it is late/很 晚 了
although one: she is tired/她 很 累, he is busy/他 很 忙, she is young/她 很 年轻, he is sick/他 生病 了, he is tired/他 很 累
still: we are going to the park/我们 还 要 去 公园, we are working/我们 还 在 工作, the children are playing/孩子们 还 在 玩
still she: she is working/她 还 在 工作, she is studying/她 还 在 学习, she is helping us/她 还 在 帮助 我们
still he: he is working/他 还 在 工作, he is studying/他 还 在 学习, he is helping us/他 还 在 帮助 我们
time of: I was young/我 年轻 的 时候, I was a child/我 小 的 时候, I was a student/我 是 学生 的 时候
then was: I lived in Beijing/住 在 北京, I lived in Shanghai/住 在 上海, I often sang/经常 唱歌,
    I often played football/经常 踢 足球, I had a dog/有 一 只 狗, I had a cat/有 一 只 猫, I liked swimming/喜欢 游泳
meal: breakfast/早饭, lunch/午饭, dinner/晚饭
home: in Beijing/在 北京, in Shanghai/在 上海, in Paris/在 巴黎, in London/在 伦敦, near the station/在 车站 附近,
    near the park/在 公园 附近, near the school/在 学校 附近, in a big house/在 一 座 大 房子 里
lasting: lived in Beijing/在 北京 住, lived in Paris/在 巴黎 住, lived here/在 这儿 住, worked here/在 这儿 工作,
    studied English/学 英语 学, studied Chinese/学 汉语 学
not to do: open the door/把 门 打开, open the window/把 窗户 打开, open the box/把 盒子 打开, close the door/把 门 关上,
    close the window/把 窗户 关上, turn off the lamp/把 灯 关上, turn off the computer/把 电脑 关上,
    forget the key/忘 了 钥匙, forget the ticket/忘 了 票, forget the umbrella/忘 了 雨伞, wait for me/等 我, run/跑,
    sing/唱歌, eat the cake/吃 蛋糕, drink the coffee/喝 咖啡, go out/出去, be nervous/紧张, be sad/难过
please don't: sing/唱歌, run/跑, go out/出去, wait for me/等 我, come/来, be sad/难过, be nervous/紧张,
    close the window/把 窗户 关上, open the window/把 窗户 打开, open the door/把 门 打开
subject of talk: the weather/天气, the film/这 部 电影, the party/晚会, work/工作
"""
# "share mark English = Chinese": sentences whose {slots} are filled alike on both sides. {S be}, {S like}: a subject
# with the form of its verb; {be S}, {do S}: a question; {S's}: what is its own.
TEMPLATES = """
60 . {S be} {degree} {mood} = {S} {degree} {mood}
40 . {S isn't} {mood} = {S} 不 {mood}
30 ? {be S} {mood} = {S} {mood} 吗
25 ? why {be S} so {mood} = {S} 为什么 这么 {mood}
30 . {kin} is {degree} {trait} = {kin} {degree} {trait}
20 . {kin} isn't {trait} = {kin} 不 {trait}
45 . {S be} {job} = {S} 是 {job}
20 . {S isn't} {job} = {S} 不 是 {job}
20 ? {be S} {job} = {S} 是 {job} 吗
15 . {S wants} to be {job} = {S} 想 当 {job}
25 . {S be} from {country} = {S} 是 从 {country} 来 的
12 ? {be S} from {country} = {S} 是 从 {country} 来 的 吗
25 . {sibling} is {big number} years old = {sibling} {big number} 岁
20 . {he} is {big number} years old = {he} {big number} 岁
12 ? how old is {kin} = {kin} 多大 了
60 . {S like} {liked} = {S} 喜欢 {liked}
30 . {S don't} like {liked} = {S} 不 喜欢 {liked}
30 ? {do S} like {liked} = {S} 喜欢 {liked} 吗
20 ? who likes {liked} = 谁 喜欢 {liked}
20 . {S also like} {liked} = {S} 也 喜欢 {liked}
12 . we all like {liked} = 我们 都 喜欢 {liked}
50 . {S like} {hobby} = {S} 喜欢 {hobby}
25 . {S don't} like {hobby} = {S} 不 喜欢 {hobby}
25 ? {do S} like {hobby} = {S} 喜欢 {hobby} 吗
15 . {S really like} {hobby} = {S} 真 喜欢 {hobby}
40 . {S can} {skill} = {S} 会 {skill}
25 . {S can't} {skill} = {S} 不 会 {skill}
25 ? {can S} {skill} = {S} 会 {skill} 吗
20 . {S be} learning to {skill} = {S} 在 学 {skill}
60 . {S wants} to {deed} = {S} 想 {deed}
35 . {S don't} want to {deed} = {S} 不 想 {deed}
35 ? {do S} want to {deed} = {S} 想 {deed} 吗
30 . {S wants} to {deed} {soon} = {S} {soon} 想 {deed}
30 . {S have} to {deed} = {S} 得 {deed}
20 . {S don't} have to {deed} = {S} 不用 {deed}
25 . {S must} {deed} = {S} 必须 {deed}
25 . {S should} {deed} = {S} 应该 {deed}
15 . {S shouldn't} {deed} = {S} 不 应该 {deed}
15 ? {should S} {deed} = {S} 应该 {deed} 吗
20 . {S plan} to {deed} {soon} = {S} 打算 {soon} {deed}
20 . let's {deed} = 我们 {deed} 吧
20 . {S wants} {us} to {deed} = {S} 想 让 {us} {deed}
40 . {S have} {a owned} = {S} 有 {a owned}
20 . {S don't} have {a thing} = {S} 没有 {a thing}
30 ? {do S} have {a thing} = {S} 有 {a thing} 吗
35 . {S have} {numbered} = {S} 有 {numbered}
30 ? how many {counted} {do S} have = {S} 有 几 {counted}
30 . {S wants} {a wanted} = {S} 想要 {a wanted}
20 . {S need} {a wanted} = {S} 需要 {a wanted}
20 ? {do S} need {a thing} = {S} 需要 {a thing} 吗
20 ? which {one of them} {do S} like = {S} 喜欢 哪 {one of them}
20 ? which {one of them} {do S} want = {S} 想要 哪 {one of them}
40 . this is {mine} = 这 是 {mine}
20 . that is {mine} = 那 是 {mine}
25 . this isn't {mine} = 这 不 是 {mine}
25 ? is this {mine} = 这 是 {mine} 吗
20 ? is that {mine} = 那 是 {mine} 吗
25 ? whose {this one} is this = 这 是 谁 的 {this one}
20 . these are {mine all} = 这些 是 {mine all}
12 ? are these {mine all} = 这些 是 {mine all} 吗
20 . this {is mine} = 这 {is mine}
40 . {mine lying} is {spot} = {mine lying} 在 {spot}
20 . {mine lying} isn't {spot} = {mine lying} 不 在 {spot}
25 ? is {mine lying} {spot} = {mine lying} 在 {spot} 吗
25 ? where is {mine lying} = {mine lying} 在 哪儿
12 ? where are {mine all} = {mine all} 在 哪儿
20 ? where is {kin} = {kin} 在 哪儿
25 . {kin} is {at} = {kin} {at}
20 . {kin} isn't {at} = {kin} 不 {at}
20 ? is {kin} {at} = {kin} {at} 吗
45 . there is {a lying} {spot} = {spot} 有 {a lying}
35 . there are {numbered lying} {spot} = {spot} 有 {numbered lying}
20 ? what is {spot} = {spot} 有 什么
25 ? is there {thing lying} {spot} = {spot} 有 {thing lying} 吗
20 ? where is the {town} = {town} 在 哪儿
15 ? excuse me, where is the {town} = 请问 ， {town} 在 哪儿
20 ? is there a {town} near here = 这儿 附近 有 {town} 吗
40 . the {town} is {beside} the {town} = {town} 在 {town 2} {beside}
20 . there is {a place} {beside} the {town} = {town} {beside} 有 {a place}
25 . {S live} {home} = {S} 住 {home}
15 ? {do S} live {home} = {S} 住 {home} 吗
12 ? where {do S} live = {S} 住 在 哪儿
12 ? where {do S} work = {S} 在 哪儿 工作
35 . {S go} {to} {ride} = {S} {ride} 去 {to}
20 . {S go} {to} every day = {S} 每 天 去 {to}
40 . {S be} going {to} {soon} = {S} {soon} 要 去 {to}
40 . {S went} {to} {past} = {S} {past} 去 {to} 了
30 . {S didn't} go {to} {past} = {S} {past} 没 去 {to}
30 ? {did S} go {to} {past} = {S} {past} 去 {to} 了 吗
30 . {S wants} to go {to} = {S} 想 去 {to}
20 . let's go {to} = 我们 去 {to} 吧
15 . let's go {to} {soon} = 我们 {soon} 去 {to} 吧
20 ? how {do S} go {to} = {S} 怎么 去 {to}
20 ? when {be S} going {to} = {S} 什么 时候 去 {to}
15 ? why {did S} go {to} = {S} 为什么 去 {to} 了
15 ? who wants to go {to} = 谁 想 去 {to}
25 . {S be} going to {city} {far ride} = {S} 要 {far ride} 去 {city}
15 . {S went} to {city} {past} = {S} {past} 去 {city} 了
45 . {S have} {tried} = {S} {tried}
30 . {S have} never {tried} = {S} 从来 没 {tried}
30 ? {have S} ever {tried} = {S} {tried} 吗
40 . {S have} {lasting} for {years} = {S} {lasting} 了 {years}
15 . {S slept} for {hours} = {S} 睡 了 {hours}
15 . {S waited} for {minutes} = {S} 等 了 {minutes}
25 . {S sing} {well} = {S} 唱歌 唱 得 {well}
25 . {S run} {fast} = {S} 跑 得 {fast}
20 . {S swim} {fast} = {S} 游泳 游 得 {fast}
25 . {S speak} {language} {well} = {S} {language} 说 得 {well}
20 . {S draw} {well} = {S} 画画 画 得 {well}
20 . {S cook} {well} = {S} 做饭 做 得 {well}
20 . {S get} up {early} = {S} 起床 起 得 {early}
20 . {S don't} sing {badly} = {S} 唱歌 唱 得 不 {badly}
20 . {S don't} speak {language} {badly} = {S} {language} 说 得 不 {badly}
20 ? {do S} speak {language} = {S} 说 {language} 吗
15 . {S don't} speak {language} = {S} 不 说 {language}
40 . {S taken up before} = {S} {taken up before} 了
15 ? who {taken up before} = 谁 {taken up before} 了
25 . please {taken up} = 请 {taken up}
20 . don't {not to do} = 不要 {not to do}
20 . {S wants} to {taken up} = {S} 想 {taken up}
15 . {S forgot} to {taken up} = {S} 忘 了 {taken up}
20 ? can you {taken up}, please = 请 你 {taken up} ， 好 吗
15 . {S will} {taken up} {soon} = {S} {soon} 会 {taken up}
40 . {S gave} {us} {a given} = {S} 给 了 {us} {a given}
25 . {S will} give {us} {a given} = {S} 会 给 {us} {a given}
15 . {S bought} {us} {a given} = {S} 给 {us} 买 了 {a given}
15 . {S wants} to give {kin} {a given} = {S} 想 给 {kin} {a given}
25 . please give {us} {a handed} = 请 给 {us} {a handed}
20 . give {us} {that handed}, please = 请 把 {that handed} 给 {us}
20 . please put {that lying} {spot} = 请 把 {that lying} 放 在 {spot}
20 . {S put} {the lying} {spot} = {S} 把 {the lying} 放 在 {spot} 了
25 . {S often call} {kin} = {S} 经常 给 {kin} 打 电话
20 . {S called} {kin} {before} = {S} {before} 给 {kin} 打 电话 了
20 . {S know} {kin} = {S} 认识 {kin}
15 ? {do S} know {kin} = {S} 认识 {kin} 吗
20 . {S helped} {kin} {before} = {S} {before} 帮助 了 {kin}
20 . {S be} waiting for {kin} = {S} 在 等 {kin}
15 . {S be} looking for {mine lying} = {S} 在 找 {mine lying}
15 . {S can't} find {mine lying} = {S} 找 不 到 {mine lying}
25 . {colored} is {color} = {colored} 是 {color} 的
20 ? is {colored} {color} = {colored} 是 {color} 的 吗
25 ? what color is {colored} = {colored} 是 什么 颜色 的
20 ? how much does {this ware} cost = {this ware} 多少 钱
25 . {this ware} costs {price} yuan = {this ware} {price} 块 钱
20 . I would like {amount} = 我 想要 {amount}
20 ? can I have {amount} = 我 可以 要 {amount} 吗
20 . please give me {amount} = 请 给 我 {amount}
25 . {S bought} {amount} {before} = {S} {before} 买 了 {amount}
20 . {S drank} {drinks} = {S} 喝 了 {drinks}
10 . today is {day} = 今天 是 {day}
8 . tomorrow is {day} = 明天 是 {day}
8 . yesterday was {day} = 昨天 是 {day}
14 . it is {number} o'clock = 现在 {number} 点
12 . it is already {number} o'clock = 已经 {number} 点 了
10 . it isn't {number} o'clock yet = 还 不 到 {number} 点
30 . the {shop} opens at {number} o'clock = {shop} {number} 点 开门
30 . the {shop} closes at {number} o'clock = {shop} {number} 点 关门
10 ? what time does the {shop} open = {shop} 几 点 开门
10 ? what time does the {shop} close = {shop} 几 点 关门
25 . {starts} starts at {number} o'clock = {starts} {number} 点 开始
6 ? what time does {starts} start = {starts} 几 点 开始
20 . {starts} is on {day} = {starts} 在 {day}
25 . {run late} leaves at {number} o'clock = {run late} {number} 点 开
5 ? what time does {run late} leave = {run late} 几 点 开
12 . {run late} has already left = {run late} 已经 走 了
12 . {run late} hasn't come yet = {run late} 还 没 来
25 . {S get} up at {up} o'clock = {S} {up} 点 起床
20 . {S go} to bed at {bed} o'clock = {S} {bed} 点 睡觉
12 ? what time {do S} get up = {S} 几 点 起床
20 . {S's} birthday is in {month} = {S's} 生日 在 {month}
8 ? when is {S's} birthday = {S's} 生日 是 什么 时候
40 . {weather} in {city} = {city} {weather}
20 . {weather} {now} = {now} {weather}
20 . {weather} in {city} {now} = {city} {now} {weather}
25 . {weather was} {before} = {before} {weather was}
25 . {weather will be} {soon} = {soon} {weather will be}
20 . {weather will be} in {city} {soon} = {city} {soon} {weather will be}
15 ? {weather is it} in {city} = {city} {weather is it}
15 . {often in summer} in {city} in summer = {city} 夏天 {often in summer}
15 . {often in winter} in {city} in winter = {city} 冬天 {often in winter}
70 . {result} because {reason} = 因为 {reason} ， 所以 {result}
70 . if {if}, {then} = 如果 {if} ， {then}
12 . although {although}, {still} = 虽然 {although} ， 但是 {still}
40 . when {time of}, {then was} = {time of} {then was}
30 . I think that {opinion} = 我 觉得 {opinion}
30 . {S say} that {opinion} = {S} 说 {opinion}
25 . I know that {opinion} = 我 知道 {opinion}
15 . I don't know if {opinion?} = 我 不 知道 {opinion?}
20 . I hope that {hope} = 我 希望 {hope}
20 ? do you know where {kin} is = 你 知道 {kin} 在 哪儿 吗
20 . I don't know where {mine lying} is = 我 不 知道 {mine lying} 在 哪儿
20 . {S be} talking about {subject of talk} = {S} 在 谈 {subject of talk}
12 ? who is that {person} = 那 {person} 是 谁
20 . that {person} is {degree} {trait} = 那 {person} {degree} {trait}
20 . that {person} is {my friend} = 那 {person} 是 {my friend}
50 . {kin} is {taller} than {us} = {kin} 比 {us} {taller}
30 . {S be} {taller} than {kin} = {S} 比 {kin} {taller}
20 . {S isn't} as {tall} as {us} = {S} 没有 {us} {tall}
25 . {S be} as {tall} as {kin} = {S} 和 {kin} 一样 {tall}
20 . {kin} is much {taller} than {us} = {kin} 比 {us} {taller} 得多
20 . {S be} the {tallest} = {S} 最 {tallest}
12 ? who is the {tallest} = 谁 最 {tallest}
20 . please don't {please don't} = 请 不要 {please don't}
"""

# ---------------------------------------------------------------- parts of speech


class Noun(NamedTuple):
    en: str
    plural: str
    measure: str        # 一本书: the word between a number and a noun
    zh: str
    kind: str


class Adjective(NamedTuple):
    en: str
    zh: str
    goes_with: frozenset


class Subject(NamedTuple):
    en: str
    zh: str
    own: str            # his: English possessive
    be: str             # am, is or are

    @property
    def third(self):
        return self.be == "is"


class Verb(NamedTuple):
    base: str
    third: str
    past: str
    participle: str
    ing: str
    zh: str


class Action(NamedTuple):
    verb: str
    tenses: str
    objects: tuple      # (Noun or None, English, Chinese verb, Chinese object)
    places: tuple


def words(*parts):
    return " ".join(part for part in parts if part)


def lines(text):
    """The lines of a table; one that is indented goes on with the line before."""
    return [line.strip() for line in re.sub(r"\n +", " ", text).splitlines() if line.strip()]


def items(text):
    return [item.strip() for item in text.split(",")]


def plain(text):
    return text.replace("_", " ")


def english_plural(word):
    return word + "es" if re.search(r"(s|x|ch|sh)$", word) else word + "s"


def parse_noun(text, kind):
    names, measure, zh = text.split()
    one_of, _, many = plain(names).partition("/")
    return Noun(one_of, many or english_plural(one_of), "" if measure == "-" else measure, zh, kind)


def parse_pairs(text):
    """ "English/Chinese, ..." as a list of pairs."""
    return [tuple(item.split("/")) for item in items(text)]


NOUN = {noun.en: noun for kind, text in NOUNS.items() for noun in (parse_noun(t, kind) for t in items(text))}
FOOD = dict(item.split() for text in MASS.values() for item in items(text))
VERB = {verb.base: verb for verb in (Verb(*map(plain, line.split())) for line in lines(VERBS))}
PLACE = {name: tuple(text.split("/")) for name, text in (line.split(": ") for line in lines(PLACES))}
LIST = {name: text for name, text in (line.split(": ", 1) for line in lines(PHRASES_BY_NAME))}
PAIRS = {name: parse_pairs(text) for name, text in LIST.items() if text.count("/") == len(items(text))}
WORD = {name: [NOUN[plain(item)] for item in items(text)] for name, text in LIST.items() if "/" not in text}
PRONOUNS = [Subject(plain(en), zh, own, be) for en, _, zh, own, be in map(str.split, lines(PERSONS))]
OWNERS = [person for person in PRONOUNS if person.en != "you all"]      # "your" is 你 的
KIN = [noun for noun in NOUN.values() if noun.kind == "kin"]


def parse_adjective(line):
    en, rest = line.split(": ")
    zh, kinds = rest.split("; ")
    return Adjective(en, zh, frozenset(kinds.split()))


ADJECTIVE = [parse_adjective(line) for line in lines(ADJECTIVES)]


def parse_object(text, zh):
    en, _, verb_and_object = text.partition("/")
    verb, _, rest = verb_and_object.strip().partition(" ")
    return None, plain(en).strip(), verb or zh, rest


def parse_action(line):
    head, *parts = [part.strip() for part in line.split("|")]
    *_, last = parts
    if "@" in last:
        parts[-1] = last.partition("@")[0].strip()
    name, tenses = head.split()
    zh, objects = VERB[plain(name)].zh, []
    for part in parts:
        kind, _, rest = part.partition(": ")
        if kind == "a":
            objects += [(NOUN[noun], "", zh, "") for noun in rest.split()]
        elif kind == "mass":
            objects += [(None, noun, zh, FOOD[noun]) for noun in rest.split()]
        elif kind == "=":
            objects += [parse_object(item, zh) for item in items(rest)]
    return Action(plain(name), tenses, tuple(objects), tuple(last.partition("@")[2].split()))


ACTION = [parse_action(line) for line in lines(ACTIONS)]

# ---------------------------------------------------------------- phrases


def one(choices):
    return RNG.choice(list(choices))


def kin(like=""):
    """ "my mother": of the closest, without 的."""
    who = one(PRONOUNS[:4])
    noun = one([noun for noun in KIN if re.search(like, noun.en)])
    return Subject(f"{who.own} {noun.en}", f"{who.zh} {noun.zh}", "his", "is")


def named():
    en, zh = one(parse_pairs(plain(NAMES)))
    return Subject(en, zh, "his", "is")


OTHERS = [Subject("the teacher", "老师", "his", "is"), Subject("the children", "孩子们", "their", "are"),
          Subject("my friend", "我 的 朋友", "his", "is"), Subject("our neighbor", "我们 的 邻居", "his", "is"),
          Subject("my parents", "我 父母", "their", "are"), Subject("her husband", "她 丈夫", "his", "is"),
          Subject("his wife", "他 妻子", "her", "is")]


def somebody(asked=False):
    """A subject; of a question nobody who should know it himself."""
    draw = RNG.random()
    if draw < 0.6:
        return one([p for p in PRONOUNS if not asked or p.own not in ("my", "our")])
    return kin() if draw < 0.78 else named() if draw < 0.88 else one(OTHERS)


def adjective_of(noun):
    fit = [a for a in ADJECTIVE if noun.en in a.goes_with or noun.kind in a.goes_with]
    return one(fit) if fit else None


def article(noun, described=0.35):
    """ "a new car": 一 辆 新 汽车."""
    adjective = adjective_of(noun) if RNG.random() < described else None
    if adjective:
        return words("a", adjective.en, noun.en), words("一", noun.measure, adjective.zh, noun.zh)
    return words("a", noun.en), words("一", noun.measure, noun.zh)


def numbered(noun):
    en, zh = one(PAIRS["number"])
    return words(en, noun.plural), words(zh, noun.measure, noun.zh)


def possessive(noun, plural=False):
    who = one(OWNERS)
    return words(who.own, noun.plural if plural else noun.en), words(who.zh, "的", noun.zh)


def measured(*nouns):
    """ "a cup of tea": 一 杯 茶; of the nouns, where they are given."""
    while True:
        en, zh, fit = one([item.split("/") for item in items(LIST["amount"])])
        noun = one(fit.split())
        if not nouns or noun in nouns:
            return words(en, noun), words(zh, FOOD[noun])


def compared(form, text=COMPARED):
    row = one(items(text)).split()
    return row[form], row[3]


def saying():
    """ "The soup is very hot": what, and what is said of it."""
    said, nouns = one(lines(SAYINGS)).split(": ")
    en, zh = one(said.split()).split("/")
    name = one(nouns.split())
    if name in FOOD:
        return ("the " + name, FOOD[name]), (en, zh)
    noun = NOUN[name]
    what = [("the " + noun.en, noun.zh), ("this " + noun.en, words("这", noun.measure, noun.zh))]
    what = one(what if noun.kind in ("public", "place") else what + [possessive(noun)])
    return what, (en, zh)


MINE = {"my": "mine", "your": "yours", "his": "his", "her": "hers", "our": "ours", "their": "theirs"}
DEGREES = [("", "很"), ("very", "非常"), ("really", "真")]
US = [tuple(item) for item in parse_pairs(OBJECTS)]

# ---------------------------------------------------------------- clauses


def english(s, verb, tense, rest, mode=""):
    """An English clause; mode is "" for a statement, "not" or "ask"."""
    helper = {"present": "does" if s.third else "do", "past": "did", "will": "will", "ing": s.be, "going": s.be}[tense]
    form = {"ing": verb.ing, "going": "going to " + verb.base}.get(tense, verb.base)
    if mode == "ask":
        return words(helper, s.en, form, rest)
    if mode == "not":
        return words(s.en, "am not" if helper == "am" else "won't" if helper == "will" else helper + "n't", form, rest)
    if tense == "present":
        return words(s.en, verb.third if s.third else verb.base, rest)
    return words(s.en, verb.past if tense == "past" else words(helper, form), rest)


TENSE = {"P": ("present", "habit"), "G": ("ing", None), "D": ("past", "past"), "F": ("will", "future")}


def choose_action(letter):
    return one([action for action in ACTION if letter in action.tenses])


class Done(NamedTuple):
    """An action with its object, ready for both languages: the object as it is stated, and bare (没 买 汽车)."""
    verb: Verb
    en: str
    en_plain: str       # without number or adjective
    zh_verb: str
    zh: str
    zh_bare: str
    counted: bool       # 了 follows the verb, not the object
    place: tuple


MANY = ("fruit", "paper", "small", "dish", "animal", "plant")      # what comes in numbers
SELDOM = ("vehicle", "device", "furniture", "clothes")             # not bought as a habit


def done(letter, place_share=0.3):
    action = choose_action(letter)
    noun, en, zh_verb, zh = one([o for o in action.objects if letter != "P" or not o[0] or o[0].kind not in SELDOM])
    place = PLACE[one(action.places)] if action.places and RNG.random() < place_share else ("", "")
    verb = VERB[action.verb]
    if noun is None:
        return Done(verb, en, en, zh_verb, zh, zh, False, place)
    if letter == "P":
        return Done(verb, noun.plural, noun.plural, zh_verb, noun.zh, noun.zh, False, place)
    stated = numbered(noun) if noun.kind in MANY and RNG.random() < 0.3 else article(noun)
    return Done(verb, stated[0], "a " + noun.en, zh_verb, stated[1], noun.zh, True, place)


def pair(en, zh, mark="."):
    """One finished line: English with its capital, both with their final punctuation; Chinese words stay apart."""
    en = re.sub(r"\ba (?=[aeiou])", "an ", re.sub(r" +", " ", en).strip())
    return en[0].upper() + en[1:] + mark, words(zh, {".": "。", "?": "？", "!": "！"}[mark])


FAMILIES = []
SCALE = 0.7         # of all shares: the size of the file


def family(share):
    def add(make):
        FAMILIES.append((round(share * SCALE), make))
        return make
    return add


SKILLS = {"swim", "dance", "sing", "draw", "play", "cook"}     # without a time 会 游泳 is "can swim"
FAR = {"buy", "visit", "learn", "study", "work", "write", "play", "choose", "borrow"}     # last year, every week


def time_of(act, name):
    """A time that fits: nobody makes a cake "next year"."""
    if act.verb.base not in FAR:
        name = {"past": "before", "future": "soon", "habit": "daily"}[name]
    return one(PAIRS[name])


def timed(act, name, share):
    return time_of(act, name) if RNG.random() < share else ("", "")


def when(name, share):
    return one(PAIRS[name]) if RNG.random() < share else ("", "")


@family(170)
def habit():
    s, act = somebody(), done("P", 0.25)
    if RNG.random() < 0.35:
        often = one(PAIRS["frequency"])
        verb = act.verb.third if s.third else act.verb.base
        return pair(words(s.en, often[0], verb, act.en), words(s.zh, often[1], act.zh_verb, act.zh))
    time = time_of(act, "habit")
    return pair(english(s, act.verb, "present", words(act.en, act.place[0], time[0])),
                words(s.zh, time[1], act.place[1], act.zh_verb, act.zh))


@family(70)
def no_habit():
    s, act = somebody(), done("P", 0)
    return pair(english(s, act.verb, "present", act.en, "not"), words(s.zh, "不", act.zh_verb, act.zh))


@family(80)
def habit_asked():
    s, act = somebody(True), done("P", 0)
    time = time_of(act, "habit")
    return pair(english(s, act.verb, "present", words(act.en, time[0]), "ask"),
                words(s.zh, time[1], act.zh_verb, act.zh, "吗"), "?")


@family(200)
def going_on():
    s, act = somebody(), done("G", 0.4)
    return pair(english(s, act.verb, "ing", words(act.en, act.place[0])),
                words(s.zh, "正" if act.place[1] else "在", act.place[1], act.zh_verb, act.zh))


@family(70)
def not_going_on():
    s, act = somebody(), done("G", 0)
    return pair(english(s, act.verb, "ing", act.en_plain, "not"), words(s.zh, "没 在", act.zh_verb, act.zh_bare))


@family(80)
def going_on_asked():
    s, act = somebody(True), done("G", 0)
    return pair(english(s, act.verb, "ing", act.en_plain, "ask"), words(s.zh, "在", act.zh_verb, act.zh_bare, "吗"), "?")


@family(300)
def past():
    s, act = somebody(), done("D")
    time = timed(act, "past", 0.75)
    if not time[0] and not act.counted:
        return None
    verb = words(act.zh_verb, "了", act.zh) if act.counted else words(act.zh_verb, act.zh, "了")
    return pair(english(s, act.verb, "past", words(act.en, act.place[0], time[0])),
                words(s.zh, time[1], act.place[1], verb))


@family(140)
def not_past():
    s, act = somebody(), done("D", 0.2)
    time = timed(act, "past", 0.7)
    return pair(english(s, act.verb, "past", words(act.en_plain, act.place[0], time[0]), "not"),
                words(s.zh, time[1], "没", act.place[1], act.zh_verb, act.zh_bare))


@family(130)
def past_asked():
    s, act = somebody(True), done("D", 0.2)
    time = timed(act, "past", 0.7)
    return pair(english(s, act.verb, "past", words(act.en_plain, act.place[0], time[0]), "ask"),
                words(s.zh, time[1], act.place[1], act.zh_verb, act.zh_bare, "了 吗"), "?")


@family(130)
def future():
    s, act = somebody(), done("F")
    time = timed(act, "future", 1 if act.verb.base in SKILLS else 0.8)
    return pair(english(s, act.verb, "will", words(act.en, act.place[0], time[0])),
                words(s.zh, time[1], "会", act.place[1], act.zh_verb, act.zh))


@family(60)
def not_future():
    s, act = somebody(), done("F", 0)
    time = timed(act, "future", 1 if act.verb.base in SKILLS else 0.7)
    return pair(english(s, act.verb, "will", words(act.en_plain, time[0]), "not"),
                words(s.zh, time[1], "不 会", act.zh_verb, act.zh_bare))


@family(60)
def future_asked():
    s, act = somebody(True), done("F", 0)
    time = timed(act, "future", 1 if act.verb.base in SKILLS else 0.7)
    return pair(english(s, act.verb, "will", words(act.en_plain, time[0]), "ask"),
                words(s.zh, time[1], "会", act.zh_verb, act.zh_bare, "吗"), "?")


@family(130)
def intended():
    s, act = somebody(), done("F")
    time = timed(act, "future", 1 if act.verb.base in SKILLS else 0.8)
    return pair(english(s, act.verb, "going", words(act.en, act.place[0], time[0])),
                words(s.zh, time[1], "要", act.place[1], act.zh_verb, act.zh))


MODALS = [  # statement (base, third), negation (base, third), question; the same in Chinese
    ("want to", "wants to", "don't want to", "doesn't want to", "do want to", "想", "不 想", "想"),
    ("have to", "has to", "don't have to", "doesn't have to", "", "得", "不用", ""),
    ("must", "must", "", "", "", "必须", "", ""),
    ("should", "should", "shouldn't", "shouldn't", "should", "应该", "不 应该", "应该"),
    ("can", "can", "can't", "can't", "can", "能", "不 能", "能"),
    ("need to", "needs to", "don't need to", "doesn't need to", "do need to", "需要", "不 需要", "需要"),
    ("would like to", "would like to", "", "", "", "想要", "", ""),
    ("plan to", "plans to", "don't plan to", "doesn't plan to", "", "打算", "不 打算", ""),
]


def wish_of(form, place_share):
    """A subject, a modal verb that has the form, an action, a time."""
    modal = one([m for m in MODALS if m[form]])
    act = done("F", place_share)
    if modal[0] == "can" and act.verb.base in SKILLS:
        return None
    return somebody(form == 4), modal, act, timed(act, "future", 0.35)


def modal_when(modal, time):
    return words(modal, time[1]) if "打算" in modal else words(time[1], modal)


@family(190)
def wish():
    found = wish_of(0, 0.25)
    if not found:
        return None
    s, modal, act, time = found
    return pair(words(s.en, modal[s.third], act.verb.base, act.en, act.place[0], time[0]),
                words(s.zh, modal_when(modal[5], time), act.place[1], act.zh_verb, act.zh))


@family(90)
def no_wish():
    found = wish_of(2, 0)
    if not found:
        return None
    s, modal, act, time = found
    return pair(words(s.en, modal[2 + s.third], act.verb.base, act.en_plain, time[0]),
                words(s.zh, modal_when(modal[6], time), act.zh_verb, act.zh_bare))


@family(90)
def wish_asked():
    found = wish_of(4, 0)
    if not found:
        return None
    s, modal, act, time = found
    helper, _, rest = modal[4].partition(" ")
    helper = "does" if helper == "do" and s.third else helper
    return pair(words(helper, s.en, rest, act.verb.base, act.en_plain, time[0]),
                words(s.zh, time[1], modal[7], act.zh_verb, act.zh_bare, "吗"), "?")


QUESTIONED = "eat drink buy read write draw watch cook learn study do find choose borrow"


@family(110)
def what():
    name = one(QUESTIONED.split())
    action = next(a for a in ACTION if a.verb == name)
    letter = one(action.tenses.replace("P", ""))
    s, verb = somebody(True), VERB[name]
    tense, times = TENSE[letter]
    time = when(times, 0.5) if times else ("", "")
    zh = {"G": words("在", verb.zh, "什么"), "D": words(verb.zh, "了 什么"), "F": words("会", verb.zh, "什么")}[letter]
    return pair("what " + english(s, verb, tense, time[0], "ask"), words(s.zh, time[1], zh), "?")


@family(70)
def why():
    s = somebody(True)
    if RNG.random() < 0.5:
        act = done("G", 0)
        return pair("why " + english(s, act.verb, "ing", act.en_plain, "ask"),
                    words(s.zh, "为什么 在", act.zh_verb, act.zh_bare), "?")
    act = done("D", 0)
    return pair("why didn't " + english(s, act.verb, "past", act.en_plain, "ask").removeprefix("did "),
                words(s.zh, "为什么 没", act.zh_verb, act.zh_bare), "?")


@family(50)
def who():
    letter = one("GDF")
    act = done(letter, 0.2)
    nobody = Subject("who", "谁", "his", "is")
    tense, times = TENSE[letter]
    time = when(times, 0.4) if times else ("", "")
    en = english(nobody, act.verb, tense, words(act.en_plain, act.place[0], time[0]))
    if letter == "D":
        zh = words(act.place[1], act.zh_verb, act.zh_bare, "了")
    elif letter == "G":
        zh = words("正" if act.place[1] else "在", act.place[1], act.zh_verb, act.zh_bare)
    else:
        zh = words("会", act.place[1], act.zh_verb, act.zh_bare)
    return pair(en, words(time[1], "谁", zh), "?")


@family(40)
def when_will():
    s, act = somebody(True), done("F", 0)
    return pair("when " + english(s, act.verb, "will", act.en_plain, "ask"),
                words(s.zh, "什么 时候", act.zh_verb, act.zh_bare), "?")


@family(40)
def where_done():
    """With 的 for 了: 你 在 哪儿 买 的 苹果."""
    s, act = somebody(True), done("D", 0)
    if not act.counted or act.verb.base in ("visit", "choose"):
        return None
    return pair("where " + english(s, act.verb, "past", act.en_plain, "ask"),
                words(s.zh, "在 哪儿", act.zh_verb, "的", act.zh_bare), "?")


@family(140)
def said():
    (en, zh), (how, how_zh) = saying()
    degree = one(DEGREES)
    return pair(words(en, "is", degree[0], how), words(zh, degree[1], how_zh))


@family(50)
def said_too():
    (en, zh), (how, how_zh) = saying()
    if how in ("new", "clean", "delicious", "good", "interesting", "comfortable", "beautiful", "important", "clever"):
        return None
    return pair(words(en, "is too", how), words(zh, "太", how_zh, "了"))


@family(70)
def not_said():
    (en, zh), (how, how_zh) = saying()
    return pair(words(en, "isn't", how), words(zh, "不", how_zh))


@family(70)
def said_asked():
    (en, zh), (how, how_zh) = saying()
    return pair(words("is", en, how), words(zh, how_zh, "吗"), "?")


def compared_things():
    row, nouns = one(lines(COMPARED_THINGS)).split(": ")
    return row.split(), NOUN[one(nouns.split())]


@family(70)
def thing_compared():
    (_, more, _, zh), noun = compared_things()
    if noun.kind in ("public", "place"):
        return None
    one_of_them, other = possessive(noun), one(OWNERS)
    mine = MINE[other.own]
    if one_of_them[1].startswith(other.zh) or one_of_them[0].startswith(other.own):
        return None
    return pair(words(one_of_them[0], "is", more, "than", mine), words(one_of_them[1], "比", other.zh, "的", zh))


@family(40)
def this_and_that():
    (_, more, _, zh), noun = compared_things()
    return pair(words("this", noun.en, "is", more, "than that one"),
                words("这", noun.measure, noun.zh, "比 那", noun.measure, zh))


@family(30)
def most():
    (_, _, top, zh), noun = compared_things()
    return pair(words("this is the", top, noun.en), words("这 是 最", zh, "的", noun.zh))


@family(45)
def ordered():
    act = done("F", 0)
    if act.verb.base in ("find", "visit", "take") or not act.en:
        return None
    return pair(words("please", act.verb.base, act.en), words("请", act.zh_verb, act.zh))


@family(45)
def proposed():
    act, time = done("F", 0.4), when("soon", 0.4)
    if act.verb.base == "find":
        return None
    return pair(words("let's", act.verb.base, act.en, act.place[0], time[0]),
                words("我们", time[1], act.place[1], act.zh_verb, act.zh, "吧"))


@family(50)
def reason_of_another():
    result, reason = one(PAIRS["result he"]), one(PAIRS["reason he"])
    who = one([PRONOUNS[2], PRONOUNS[3], named()])
    put = "she" if who.en == "she" else "he"
    first, second = result[0].replace("HE", who.en), reason[0].replace("HE", put)
    zh = words("因为", reason[1], "， 所以", result[1])
    if who.zh != "他":
        zh = re.sub("^因为 他 ", f"因为 {who.zh} ", zh)
        if who.zh == "她":
            zh = zh.replace("他", "她")
        elif who.zh not in zh:
            zh = zh.replace("所以 他", f"所以 {who.zh}")
    if "he" == put and who.en in ("Mary", "Anna", "Wang Fang"):
        return None
    return pair(words(first, "because", second), zh)


@family(30)
def although_one_works():
    en, zh = one(PAIRS["although one"])
    rest = one(PAIRS["still she" if en.startswith("she") else "still he"])
    return pair(f"although {en}, {rest[0]}", words("虽然", zh, "， 但是", rest[1]))


@family(70)
def around_a_meal():
    s, act, meal = somebody(), done("P", 0), one(PAIRS["meal"])
    if act.verb.base in ("eat", "cook"):
        return None
    en, zh = one((("after", "以后"), ("before", "以前")))
    return pair(english(s, act.verb, "present", words(act.en, en, meal[0])),
                words(s.zh, meal[1], zh, act.zh_verb, act.zh))


@family(45)
def wears():
    noun = one([n for n in NOUN.values() if n.kind == "clothes" and n.en != "hat"])
    s, (en, zh) = one([PRONOUNS[0], PRONOUNS[1], PRONOUNS[2], PRONOUNS[3], kin(), named()]), article(noun, 0.7)
    return pair(words(s.en, s.be, "wearing", en), words(s.zh, "穿 着", zh))


# ---------------------------------------------------------------- sentences with slots

MOOD_PAIRS, TRAIT_PAIRS = parse_pairs(MOODS), parse_pairs(TRAITS)


def lying(how):
    noun = one(WORD["lying"])
    return {"the": ("the " + noun.en, noun.zh), "that": ("that " + noun.en, words("那", noun.measure, noun.zh)),
            "a": article(noun, 0.2), "bare": ("a " + noun.en, noun.zh)}[how]


def handed_that():
    noun = one(WORD["handed"])
    return "that " + noun.en, words("那", noun.measure, noun.zh)


def bare(name):
    noun = one(WORD[name])
    return "a " + noun.en, noun.zh


def this_ware():
    noun = one(WORD["owned"][:1] + [n for n in NOUN.values() if n.kind in ("device", "clothes", "vehicle", "paper")])
    if noun.en in ("letter", "photo"):
        noun = NOUN["book"]
    return "this " + noun.en, words("这", noun.measure, noun.zh)


def period(*units):
    en, zh = one(PAIRS["number"])
    unit = NOUN[one(units)]
    return words(en, unit.plural), words(zh, unit.measure, unit.zh)


def clause_about():
    (en, zh), (how, how_zh) = saying()
    if en.startswith("this") or RNG.random() < 0.5:
        degree = one(DEGREES[:2])
        return words(en, "is", degree[0], how), words(zh, degree[1], how_zh)
    who, mood = one(PRONOUNS[2:4] + [kin(), named()]), one(MOOD_PAIRS + TRAIT_PAIRS)
    degree = one(DEGREES[:2])
    return words(who.en, who.be, degree[0], mood[0]), words(who.zh, degree[1], mood[1])


def open_question():
    who, mood = one(PRONOUNS[2:4] + [kin(), named()]), one(MOOD_PAIRS)
    return words(who.en, who.be, mood[0]), words(who.zh, mood[1], "不", mood[1])


def hoped():
    time = one(PAIRS["soon"])
    who = one([PRONOUNS[1], PRONOUNS[2], PRONOUNS[3], kin(), named()])
    deed = one([("come", "来"), ("go home", "回家"), ("have time", "有 时间"), ("help us", "帮助 我们"), ("call me", "给 我 打 电话")])
    return words(who.en, "will", deed[0], time[0]), words(who.zh, time[1], "会", deed[1])


def manner(kind):
    en, zh = one({"well": [("well", "好")], "fast": [("fast", "快"), ("slowly", "慢")],
                  "early": [("early", "早"), ("late", "晚")]}[kind])
    degree = one([("very", "非常"), ("really", "真"), ("", "很")] if kind != "well" else [("very", "非常"), ("", "很")])
    return words(degree[0], en), words(degree[1], zh)


def person():
    noun = NOUN[one(("boy", "girl", "teacher", "doctor", "student", "child"))]
    return noun.en, words(noun.measure, noun.zh)


def my_friend():
    return possessive(NOUN[one(("friend", "teacher", "neighbor", "student", "doctor"))])


def which_noun():
    noun = one(WORD["wanted"])
    return noun.en, words(noun.measure, noun.zh)


def counted():
    noun = one(WORD["counted"])
    return noun.plural, words(noun.measure, noun.zh)


def is_mine():
    noun, who = one(WORD["lying"]), one(OWNERS)
    mine = MINE[who.own]
    return words(noun.en, "is", mine), words(noun.measure, noun.zh, "是", who.zh, "的")


def at_place():
    return one([PLACE[name] for name in PLACE if name not in ("sea", "pool", "market")])


def the(noun):
    return noun.en, noun.zh


def mine_of(plural=False, names=("owned", "one's own")):
    return possessive(one(WORD[one(names)]), plural)


DRINKS = [item.split()[0] for item in items(MASS["drink"])]
SLOTS = {
    "degree": lambda: one(DEGREES), "mood": lambda: one(MOOD_PAIRS), "trait": lambda: one(TRAIT_PAIRS),
    "kin": lambda: kin()[:2], "sibling": lambda: kin("brother|sister")[:2],
    "he": lambda: one([PRONOUNS[2], PRONOUNS[3], named()])[:2], "us": lambda: one(US),
    "a owned": lambda: article(one(WORD["owned"])),
    "a thing": lambda: bare(one(("owned", "wanted"))), "a wanted": lambda: article(one(WORD["wanted"])),
    "numbered": lambda: numbered(one(WORD["counted"])), "counted": counted, "one of them": which_noun,
    "mine": mine_of, "mine all": lambda: mine_of(True, ("lying",)),
    "mine lying": lambda: mine_of(False, ("lying",)), "is mine": is_mine,
    "this one": lambda: the(one(WORD["owned"] + WORD["one's own"])),
    "a lying": lambda: article(one(WORD["lies"]), 0.25), "numbered lying": lambda: numbered(one(WORD["lies"])),
    "thing lying": lambda: lying("bare"), "that lying": lambda: lying("that"), "the lying": lambda: lying("the"),
    "town": lambda: the(one(WORD["in town"])),
    "shop": lambda: the(one(WORD["shop"])),
    "a place": lambda: article(one(WORD["in town"]), 0.3), "at": at_place,
    "years": lambda: period("year", "month", "week", "day"), "hours": lambda: period("hour"),
    "minutes": lambda: period("hour", "minute"),
    "well": lambda: manner("well"), "fast": lambda: manner("fast"), "early": lambda: manner("early"),
    "badly": lambda: ("well", "好"), "a given": lambda: article(one(WORD["given"])),
    "a handed": lambda: article(one(WORD["handed"]), 0.2), "that handed": handed_that,
    "colored": lambda: mine_of(False, ("colored",)), "this ware": this_ware,
    "amount": measured, "drinks": lambda: measured(*DRINKS), "opinion": clause_about,
    "opinion?": open_question, "hope": hoped, "person": person, "my friend": my_friend,
    "taller": lambda: compared(1), "tall": lambda: compared(0), "tallest": lambda: compared(2),
}


FORMS = {"be": lambda s: s.be, "isn't": lambda s: "am not" if s.be == "am" else s.be + "n't",
         "have": lambda s: "has" if s.third else "have", "don't": lambda s: "doesn't" if s.third else "don't",
         "wants": lambda s: "wants" if s.third else "want"}
FIXED = set("can can't must should shouldn't will went didn't slept waited forgot gave bought put called helped drank"
            .split())
REGULAR = set("live need plan sing run swim speak draw cook get know say like call".split())


def agreeing(s, text):
    """ "S like" and the like with the subject put in."""
    *adverb, verb = text.split()[1:]
    adverb = " ".join(adverb)
    if verb in FORMS:
        form = FORMS[verb](s)
    elif verb in FIXED:
        form = verb
    elif verb == "go":
        form = "goes" if s.third else "go"
    else:
        assert verb in REGULAR, text
        form = verb + "s" if s.third else verb
    return words(s.en, adverb, form)


def asked(s, helper):
    forms = {"be": s.be, "do": "does" if s.third else "do", "have": "has" if s.third else "have"}
    return words(forms.get(helper, helper), s.en)


def fill(mark, en, zh):
    """Puts the same choice into the same slot of both sides."""
    s = somebody(mark == "?")
    while "{job}" in en and s.be == "are" and s.en != "you":        # not "they are a doctor"
        s = somebody(mark == "?")
    if "{S's}" in en:
        s = one(OWNERS)
        en, zh = en.replace("{S's}", s.own), zh.replace("{S's}", words(s.zh, "的"))
    seen = {}
    for slot in re.findall(r"{(.*?)}", en):
        if slot.startswith("S ") and slot[2:].split()[-1] in {"before"}:
            chosen = one(PAIRS["taken up before"])
            en = en.replace(f"{{{slot}}}", words(s.en, chosen[0]), 1)
            zh = zh.replace("{S}", s.zh, 1).replace("{taken up before}", chosen[1], 1)
            continue
        if slot.startswith("S "):
            en = en.replace(f"{{{slot}}}", agreeing(s, slot), 1)
            continue
        if slot.endswith(" S"):
            en = en.replace(f"{{{slot}}}", asked(s, slot[:-2]), 1)
            continue
        if slot == "S":
            en = en.replace("{S}", s.en, 1)
            continue
        chosen = SLOTS[slot]() if slot in SLOTS else one(PAIRS[slot])
        if chosen is None:
            return None
        seen[slot] = seen.get(slot, 0) + 1
        mine = slot if seen[slot] == 1 else f"{slot} {seen[slot]}"
        en, zh = en.replace(f"{{{slot}}}", chosen[0], 1), zh.replace(f"{{{mine}}}", chosen[1], 1)
    zh = zh.replace("{S}", s.zh)
    assert "{" not in en + zh, (en, zh)
    return pair(en, zh, mark)


def parse_template(line):
    share, mark, text = line.split(" ", 2)
    en, _, zh = text.partition(" = ")
    return round(int(share) * SCALE), lambda: sensible(fill(mark, en, zh))


def sensible(made):
    """Not "I gave me", "the bank is next to the bank", "there is a bag in the bag"."""
    if made is None:
        return None
    en, zh = made
    text = en.lower().rstrip(".?!").split()
    if text[0] in ("i", "we") and {"me", "us"} & set(text[1:]):
        return None
    if "you" in text[:2] and "you" in text[2:]:
        return None
    for who, him in (("he", "him"), ("she", "her"), ("they", "them")):
        if text[0] == who and him in text and (him != "her" or text[-1] == "her" or "to" in text or "a" in text):
            return None
    spots = re.search(r"The (\w+) is .* the (\w+)\.", en)
    if spots and spots[1] == spots[2]:
        return None
    lies = re.search(r"(\w+?)(?:es|s)? (?:is|in|on|under|behind|next to)( .*)? the (\w+)[.?]$", en)
    if lies and lies[1] == lies[3]:
        return None
    return made


FAMILIES += map(parse_template, lines(TEMPLATES))

# ---------------------------------------------------------------- choosing what goes into the file

TRY_LIST = lines("""
I want to buy a new bike.
She will go home tomorrow morning.
Do you like coffee?
Where are my keys?
My older brother is taller than me.
We went to the park on Sunday.
There is a cat under the table.
Please close the window.
I am staying at home because I am sick.
It is raining in Beijing today.
His daughter sings very well.
Please give me a cup of tea.
""")


def tokens(text):
    """English words, lower case, punctuation apart; Chinese words as the grammar writes them."""
    return re.sub(r"([.,!?])", r" \1 ", text.lower()).split()


CHOOSER.set_units(lambda line: list(dict.fromkeys((side, word) for side in (0, 1) for word in tokens(line[side]))))


WRITTEN = {}        # the hand-written pairs


def spaced(zh):
    """A hand-written Chinese sentence with every character as a word: the unit that its rarity is counted in."""
    return " ".join(zh)


def hand_written():
    found = [tuple(line.split(" = ")) for line in lines(PHRASES)]
    WRITTEN.update(found)
    doubles = [en for en, _ in found if [e for e, _ in found].count(en) > 1]
    assert not doubles, doubles
    return {en: spaced(zh) for en, zh in found}


def joined(zh):
    return zh.replace(" ", "")


def acceptable(made):
    """Not a sentence to try, and none that is written by hand, which may say it better (我 睡不着)."""
    return made is not None and made[0] not in TRY_LIST and made[0] not in WRITTEN and len(made[0].split()) <= LONGEST


# ---------------------------------------------------------------- checks on the finished lines

MEASURES = {noun.zh: noun.measure for noun in NOUN.values() if noun.measure}


def check_form(en, zh):
    assert re.fullmatch(r"[A-Z][A-Za-z', -]*[A-Za-z][.?!]", en) and "  " not in en, en
    assert re.fullmatch(r"[\u4e00-\u9fff，]+[。？！]", zh), (en, zh)
    assert zh[-1] == {".": "。", "?": "？", "!": "！"}[en[-1]], (en, zh)
    assert not re.search(r"\ba [aeiou]", en.lower()) and not re.search(r"\ban [^aeiou]", en.lower()), en
    assert not re.search(r"\b(\w+) \1\b", en.lower()), en


def check_chinese(en, zh):
    """Of a generated sentence, whose words stand apart."""
    text = zh.split()
    for i, word in enumerate(text[:-1]):
        if word in ("一", "两", "三", "四", "五", "六", "七", "八", "九", "十", "这", "那", "几", "哪") and i + 1 < len(text):
            noun = next((w for w in text[i + 1:] if w in MEASURES and w not in ("个", "小时")), None)
            if noun and text[i + 1] in set(MEASURES.values()) and "的" not in text[i + 2:text.index(noun)]:
                assert text[i + 1] == MEASURES[noun] or len(text[i + 2:text.index(noun)]) > 1, (en, zh)
    assert not ("没" in text and "了" in text and text.index("没") < text.index("了") and "，" not in text
                and "以后" not in text), (en, zh)
    assert "吗" not in text or not {"什么", "哪儿", "谁", "几", "怎么"} & set(text) or "知道" in text, (en, zh)
    assert joined(zh).count("了了") == 0, zh


def check(phrases, generated):
    pairs = phrases | generated
    assert len(pairs) == len(phrases) + len(generated) and 4000 <= len(pairs) <= 6000, len(pairs)
    for en, zh in pairs.items():
        check_form(en, joined(zh))
    for en, zh in generated.items():
        check_chinese(en, zh)
    counts = CHOOSER.frequencies(pairs)
    assert all(counts[unit] >= LEAST for line in generated.items() for unit in CHOOSER.units(line))
    assert len(TRY_LIST) == 12
    for en in TRY_LIST:
        assert en not in pairs and all(counts[0, word] >= LEAST for word in tokens(en)), en


def report(pairs):
    english_words = {word for en in pairs for word in tokens(en)}
    characters = {c for zh in pairs.values() for c in joined(zh)}
    return f"{len(pairs)} pairs, {len(english_words)} English words and {len(characters)} Chinese characters"


def main():
    parser = argparse.ArgumentParser(description="Writes the English-Chinese pairs that come with rapt.")
    parser.add_argument("-o", metavar="FILE", type=Path, help="write the pairs to FILE, and nothing else")
    target = parser.parse_args().o
    phrases = hand_written()
    generated = CHOOSER.generate(phrases, FAMILIES, acceptable)
    check(phrases, generated)
    rows = [f"{en}\t{joined(zh)}\n" for en, zh in (phrases | generated).items()]
    RNG.shuffle(rows)
    (target or DATA / "en-zh.tsv").write_text("".join(rows), encoding="utf-8", newline="\n")
    if not target:
        (DATA / "try-zh.en").write_text("\n".join(TRY_LIST) + "\n", encoding="utf-8", newline="\n")
    print(report(phrases | generated))


if __name__ == "__main__":
    main()
