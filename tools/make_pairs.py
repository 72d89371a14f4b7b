#!/usr/bin/env python3
"""Write data/en-fr.tsv, the English-French pairs that come with rapt, and data/try.en.

For whoever wants to train a first translation model within a minute, or to change what it is trained on.
Not a translator: a small grammar of both languages, a lexicon, and some hand-written everyday sentences.

    python3 tools/make_pairs.py            writes data/en-fr.tsv and data/try.en
    python3 tools/make_pairs.py -o FILE    writes the pairs to FILE only

So that one English sentence has one French one: "you" is "tu" ("you all" is "vous"), "they" is "ils"; I, you
and we are masculine; "love" is "aimer" for people and "adorer" for things; yes/no questions begin with
"est-ce que"; "please" is "s'il te plaît".
"""
import argparse
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from pair_choice import Chooser

SEED = 20
LEAST = 6           # every word of a generated sentence occurs at least this often on its side
LONGEST = 11        # words of a generated English sentence
DATA = Path(__file__).resolve().parent.parent / "data"
CHOOSER = Chooser(SEED, LEAST)
RNG = CHOOSER.rng

# ---------------------------------------------------------------- hand-written pairs

PHRASES = """
Good morning, everyone. = Bonjour, tout le monde.
Good morning, Paul. = Bonjour, Paul.
Good morning, my friend. = Bonjour, mon ami.
Good evening, Julie. = Bonsoir, Julie.
Good evening, everyone. = Bonsoir, tout le monde.
Good night, my son. = Bonne nuit, mon fils.
Good night, Claire. = Bonne nuit, Claire.
Good night and see you tomorrow! = Bonne nuit et à demain !
Hello, my friend! = Bonjour, mon ami !
Hello, Julie! = Bonjour, Julie !
Goodbye, my friend. = Au revoir, mon ami.
Goodbye, Marc. = Au revoir, Marc.
Goodbye, see you tomorrow! = Au revoir, à demain !
See you tomorrow! = À demain !
See you tonight! = À ce soir !
See you tomorrow morning! = À demain matin !
See you on Monday! = À lundi !
See you on Friday! = À vendredi !
See you next week! = À la semaine prochaine !
See you next month! = Au mois prochain !
See you soon! = À bientôt !
See you soon, my friend! = À bientôt, mon ami !
Good luck, Julie! = Bonne chance, Julie !
Good luck, my friend! = Bonne chance, mon ami !
Have a good day! = Bonne journée !
Have a good day, Paul! = Bonne journée, Paul !
Have a good evening! = Bonne soirée !
Have a good evening, everyone! = Bonne soirée, tout le monde !
Have a good trip! = Bon voyage !
Have a good trip, Claire! = Bon voyage, Claire !
Have a good weekend! = Bon week-end !
Have a good weekend, Marc! = Bon week-end, Marc !
Happy birthday! = Bon anniversaire !
Happy birthday, Marc! = Bon anniversaire, Marc !
Happy birthday, my son! = Bon anniversaire, mon fils !
Happy New Year! = Bonne année !
Happy New Year, everyone! = Bonne année, tout le monde !
Welcome to Paris! = Bienvenue à Paris !
Welcome to our house. = Bienvenue dans notre maison.
Welcome to our village. = Bienvenue dans notre village.
Welcome to France! = Bienvenue en France !
How are you? = Comment vas-tu ?
How are you today? = Comment vas-tu aujourd'hui ?
Hello, how are you? = Bonjour, comment vas-tu ?
And you, how are you? = Et toi, comment vas-tu ?
How are you all? = Comment allez-vous tous ?
How are you all today? = Comment allez-vous tous aujourd'hui ?
How is your mother? = Comment va ta mère ?
How is your brother? = Comment va ton frère ?
How is your grandmother? = Comment va ta grand-mère ?
How are your parents? = Comment vont tes parents ?
How are your children? = Comment vont tes enfants ?
I am very well, thank you. = Je vais très bien, merci.
We are very well, thank you. = Nous allons très bien, merci.
She is very well, thank you. = Elle va très bien, merci.
They are very well, thank you. = Ils vont très bien, merci.
Thank you very much! = Merci beaucoup !
Thank you very much, Claire. = Merci beaucoup, Claire.
Thank you very much for your help. = Merci beaucoup pour ton aide.
Thank you for your help. = Merci pour ton aide.
Thank you for your letter. = Merci pour ta lettre.
Thank you for the gift. = Merci pour le cadeau.
Thank you for the coffee. = Merci pour le café.
Thank you for the flowers. = Merci pour les fleurs.
Thank you for the dinner. = Merci pour le dîner.
Thank you for everything. = Merci pour tout.
Thank you for everything, my friend. = Merci pour tout, mon ami.
You are welcome. = De rien.
You are welcome, my friend. = De rien, mon ami.
Yes, please. = Oui, s'il te plaît.
No, thank you. = Non, merci.
No, I am not ready. = Non, je ne suis pas prêt.
Yes, of course! = Oui, bien sûr !
Of course, my friend! = Bien sûr, mon ami !
I am sorry. = Je suis désolé.
I am really sorry. = Je suis vraiment désolé.
I am sorry, I don't know. = Je suis désolé, je ne sais pas.
I am sorry, I am late. = Je suis désolé, je suis en retard.
I am sorry, I can't come. = Je suis désolé, je ne peux pas venir.
I am sorry, I don't understand. = Je suis désolé, je ne comprends pas.
It isn't a problem. = Ce n'est pas un problème.
There is no problem. = Il n'y a pas de problème.
There is a small problem. = Il y a un petit problème.
Is there a problem? = Est-ce qu'il y a un problème ?
Excuse me, where is the station? = Excuse-moi, où est la gare ?
Excuse me, where is the bank? = Excuse-moi, où est la banque ?
Excuse me, what time is it? = Excuse-moi, quelle heure est-il ?
Excuse me, I am late. = Excuse-moi, je suis en retard.
Excuse me, do you speak English? = Excuse-moi, est-ce que tu parles anglais ?
What is your name? = Comment est-ce que tu t'appelles ?
And you, what is your name? = Et toi, comment est-ce que tu t'appelles ?
My name is Paul. = Je m'appelle Paul.
My name is Julie. = Je m'appelle Julie.
His name is Marc. = Il s'appelle Marc.
Her name is Claire. = Elle s'appelle Claire.
The name of my dog is Max. = Le nom de mon chien est Max.
The name of our cat is Max. = Le nom de notre chat est Max.
I am happy to see you. = Je suis heureux de te voir.
We are happy to see you. = Nous sommes heureux de te voir.
She is happy to see us. = Elle est heureuse de nous voir.
He is happy to help you. = Il est heureux de t'aider.
I am happy to be here. = Je suis heureux d'être ici.
We are happy to be here. = Nous sommes heureux d'être ici.
I am happy to be at home. = Je suis heureux d'être à la maison.
I am happy for you. = Je suis heureux pour toi.
We are happy for them. = Nous sommes heureux pour eux.
She is sad for him. = Elle est triste pour lui.
How old are you? = Quel âge as-tu ?
How old are you now? = Quel âge as-tu maintenant ?
How old is he? = Quel âge a-t-il ?
How old is he now? = Quel âge a-t-il maintenant ?
How old is she? = Quel âge a-t-elle ?
How old is she now? = Quel âge a-t-elle maintenant ?
How old is your brother? = Quel âge a ton frère ?
How old is your sister? = Quel âge a ta sœur ?
How old is your son? = Quel âge a ton fils ?
What time is it? = Quelle heure est-il ?
What time is it now? = Quelle heure est-il maintenant ?
What day is it today? = Quel jour sommes-nous aujourd'hui ?
What day is the party? = Quel jour est la fête ?
It is late. = Il est tard.
It is very late. = Il est très tard.
It is too late. = Il est trop tard.
It is already late. = Il est déjà tard.
It is still early. = Il est encore tôt.
It is still too early. = Il est encore trop tôt.
It is too early. = Il est trop tôt.
It isn't too late. = Il n'est pas trop tard.
Who is it? = Qui est-ce ?
Who is this man? = Qui est cet homme ?
He is a kind man. = C'est un homme gentil.
She is a kind woman. = C'est une femme gentille.
Who is this woman? = Qui est cette femme ?
Who are these children? = Qui sont ces enfants ?
Who knows? = Qui sait ?
Who is here? = Qui est ici ?
It is me. = C'est moi.
It is us. = C'est nous.
It is for you. = C'est pour toi.
It is for me. = C'est pour moi.
It is for my sister. = C'est pour ma sœur.
What is this? = Qu'est-ce que c'est ?
What is the problem? = Quel est le problème ?
What is your favourite colour? = Quelle est ta couleur préférée ?
What is your favourite book? = Quel est ton livre préféré ?
What is your favourite film? = Quel est ton film préféré ?
What is your favourite season? = Quelle est ta saison préférée ?
My favourite colour is blue. = Ma couleur préférée est le bleu.
My favourite colour is red. = Ma couleur préférée est le rouge.
My favourite colour is green. = Ma couleur préférée est le vert.
My favourite season is summer. = Ma saison préférée est l'été.
My favourite season is winter. = Ma saison préférée est l'hiver.
My favourite season is spring. = Ma saison préférée est le printemps.
Where are you? = Où es-tu ?
Where are you now? = Où es-tu maintenant ?
Where are we? = Où sommes-nous ?
Where are they? = Où sont-ils ?
Where is he? = Où est-il ?
Where is she? = Où est-elle ?
Where is she now? = Où est-elle maintenant ?
Where are they now? = Où sont-ils maintenant ?
I am here. = Je suis ici.
We are here. = Nous sommes ici.
They are not here. = Ils ne sont pas ici.
Paul isn't here today. = Paul n'est pas ici aujourd'hui.
My father isn't here. = Mon père n'est pas ici.
I was here yesterday. = J'étais ici hier.
How much is it? = C'est combien ?
How much is this book? = Combien coûte ce livre ?
It is expensive. = C'est cher.
It is too expensive. = C'est trop cher.
It is too expensive for me. = C'est trop cher pour moi.
It is too expensive for us. = C'est trop cher pour nous.
It isn't very expensive. = Ce n'est pas très cher.
It isn't too expensive. = Ce n'est pas trop cher.
It is very easy. = C'est très facile.
It is too difficult. = C'est trop difficile.
It is too difficult for me. = C'est trop difficile pour moi.
It isn't easy. = Ce n'est pas facile.
It isn't very difficult. = Ce n'est pas très difficile.
It is very important. = C'est très important.
It isn't important. = Ce n'est pas important.
It is very good. = C'est très bon.
It is very beautiful. = C'est très beau.
It is very interesting. = C'est très intéressant.
It isn't very interesting. = Ce n'est pas très intéressant.
It is far from here. = C'est loin d'ici.
It is very far from here. = C'est très loin d'ici.
It isn't far from here. = Ce n'est pas loin d'ici.
Is it far from here? = Est-ce que c'est loin d'ici ?
Is it true? = Est-ce que c'est vrai ?
It is true. = C'est vrai.
It isn't true. = Ce n'est pas vrai.
I think that it is true. = Je pense que c'est vrai.
I know that it isn't true. = Je sais que ce n'est pas vrai.
It is a good idea. = C'est une bonne idée.
It is a very good idea. = C'est une très bonne idée.
It isn't a good idea. = Ce n'est pas une bonne idée.
I have a good idea. = J'ai une bonne idée.
What a good idea! = Quelle bonne idée !
It is my turn. = C'est mon tour.
It is your turn. = C'est ton tour.
It is her turn. = C'est son tour.
It is over. = C'est fini.
The film is over. = Le film est fini.
The party is over. = La fête est finie.
The lesson is over. = La leçon est finie.
Can I help you? = Est-ce que je peux t'aider ?
Can you help me, please? = Est-ce que tu peux m'aider, s'il te plaît ?
He can't help me. = Il ne peut pas m'aider.
Can you help us, please? = Est-ce que tu peux nous aider, s'il te plaît ?
Can I come with you? = Est-ce que je peux venir avec toi ?
Can I come in? = Est-ce que je peux entrer ?
Can we come in, please? = Est-ce que nous pouvons entrer, s'il te plaît ?
Can I open the window? = Est-ce que je peux ouvrir la fenêtre ?
Can I close the door? = Est-ce que je peux fermer la porte ?
Can I use your phone? = Est-ce que je peux utiliser ton téléphone ?
Can I use your computer? = Est-ce que je peux utiliser ton ordinateur ?
Can I have a glass of water, please? = Est-ce que je peux avoir un verre d'eau, s'il te plaît ?
Can I have a cup of tea, please? = Est-ce que je peux avoir une tasse de thé, s'il te plaît ?
Can I have some bread, please? = Est-ce que je peux avoir du pain, s'il te plaît ?
Do you need help? = Est-ce que tu as besoin d'aide ?
I need help. = J'ai besoin d'aide.
I need your help. = J'ai besoin de ton aide.
We need your help. = Nous avons besoin de ton aide.
I don't need your help. = Je n'ai pas besoin de ton aide.
I need you. = J'ai besoin de toi.
She needs him. = Elle a besoin de lui.
Help me, please! = Aide-moi, s'il te plaît !
Help me in the kitchen, please. = Aide-moi dans la cuisine, s'il te plaît.
Help your brother, please. = Aide ton frère, s'il te plaît.
Help your grandmother in the kitchen. = Aide ta grand-mère dans la cuisine.
Wait for me! = Attends-moi !
Wait for us, please. = Attends-nous, s'il te plaît.
Wait for us here. = Attends-nous ici.
Wait for me here, please. = Attends-moi ici, s'il te plaît.
Call me tomorrow. = Appelle-moi demain.
Call me tonight, please. = Appelle-moi ce soir, s'il te plaît.
Call me when you are ready. = Appelle-moi quand tu es prêt.
Listen to me! = Écoute-moi !
Listen to me, please. = Écoute-moi, s'il te plaît.
Listen to your mother. = Écoute ta mère.
Look at this bird! = Regarde cet oiseau !
Look at this photo. = Regarde cette photo.
Look at me! = Regarde-moi !
Look at me, please. = Regarde-moi, s'il te plaît.
Come here, please. = Viens ici, s'il te plaît.
Come with me. = Viens avec moi.
Come with us to the beach. = Viens avec nous à la plage.
Come to my house tonight. = Viens chez moi ce soir.
Let's go to my house. = Allons chez moi.
Sit down, please. = Assieds-toi, s'il te plaît.
Sit down here, please. = Assieds-toi ici, s'il te plaît.
Sit down next to me. = Assieds-toi à côté de moi.
Be careful! = Fais attention !
Be careful, the plate is hot. = Fais attention, l'assiette est chaude.
Be careful, the dog is angry. = Fais attention, le chien est en colère.
Don't be afraid. = N'aie pas peur.
Don't be afraid of the dog. = N'aie pas peur du chien.
Don't be sad, my friend. = Ne sois pas triste, mon ami.
Don't be late tomorrow. = Ne sois pas en retard demain.
Don't cry, my daughter. = Ne pleure pas, ma fille.
Don't cry, my friend. = Ne pleure pas, mon ami.
Don't forget your keys. = N'oublie pas tes clés.
Don't forget your umbrella. = N'oublie pas ton parapluie.
Don't forget to close the door. = N'oublie pas de fermer la porte.
Don't forget to call your mother. = N'oublie pas d'appeler ta mère.
Speak slowly, please. = Parle lentement, s'il te plaît.
Speak more slowly, please. = Parle plus lentement, s'il te plaît.
He speaks too slowly. = Il parle trop lentement.
The bus is very slow. = Le bus est très lent.
The train is very fast. = Le train est très rapide.
This car is very fast. = Cette voiture est très rapide.
This bus is too slow. = Ce bus est trop lent.
Tell me the truth. = Dis-moi la vérité.
I told you the truth. = Je t'ai dit la vérité.
She told me the truth. = Elle m'a dit la vérité.
He told us the truth. = Il nous a dit la vérité.
You must tell the truth. = Tu dois dire la vérité.
I want to tell the truth. = Je veux dire la vérité.
Tell me everything. = Dis-moi tout.
I don't know. = Je ne sais pas.
I don't know why. = Je ne sais pas pourquoi.
I don't know where he is. = Je ne sais pas où il est.
I don't know where she lives. = Je ne sais pas où elle habite.
Do you know where he is? = Est-ce que tu sais où il est ?
Do you know where she works? = Est-ce que tu sais où elle travaille ?
I don't understand. = Je ne comprends pas.
I don't understand this word. = Je ne comprends pas ce mot.
I don't understand your question. = Je ne comprends pas ta question.
Do you understand this word? = Est-ce que tu comprends ce mot ?
He doesn't understand the lesson. = Il ne comprend pas la leçon.
I have a question. = J'ai une question.
It is a difficult question. = C'est une question difficile.
It is an easy question. = C'est une question facile.
I think so. = Je pense que oui.
I hope so. = J'espère que oui.
I don't think so. = Je ne pense pas.
I agree with you. = Je suis d'accord avec toi.
We agree with her. = Nous sommes d'accord avec elle.
I don't agree with him. = Je ne suis pas d'accord avec lui.
Me too. = Moi aussi.
You too. = Toi aussi.
Why not? = Pourquoi pas ?
Why are you sad? = Pourquoi est-ce que tu es triste ?
Why is the baby crying? = Pourquoi est-ce que le bébé pleure ?
Why is she crying? = Pourquoi est-ce qu'elle pleure ?
The baby is crying. = Le bébé pleure.
The baby is sleeping. = Le bébé dort.
The baby is hungry. = Le bébé a faim.
I love you. = Je t'aime.
I love you very much. = Je t'aime beaucoup.
I love my family. = J'aime ma famille.
My family lives in Lyon. = Ma famille habite à Lyon.
My family comes from Italy. = Ma famille vient d'Italie.
His family is very rich. = Sa famille est très riche.
I have a big family. = J'ai une grande famille.
We are a big family. = Nous sommes une grande famille.
Do you have a big family? = Est-ce que tu as une grande famille ?
I miss you. = Tu me manques.
I miss you very much. = Tu me manques beaucoup.
I miss my family. = Ma famille me manque.
I miss Paris. = Paris me manque.
I am fine. = Je vais bien.
Everything is fine. = Tout va bien.
Everything is ready. = Tout est prêt.
Everyone is happy. = Tout le monde est heureux.
Everyone is here. = Tout le monde est ici.
Everyone is hungry. = Tout le monde a faim.
Everyone likes music. = Tout le monde aime la musique.
Everyone knows this song. = Tout le monde connaît cette chanson.
Nobody knows. = Personne ne sait.
Nobody is perfect. = Personne n'est parfait.
Nobody is at home. = Personne n'est à la maison.
Nobody knows the truth. = Personne ne connaît la vérité.
It is perfect! = C'est parfait !
I see nothing. = Je ne vois rien.
I understand nothing. = Je ne comprends rien.
I don't want anything. = Je ne veux rien.
She doesn't eat anything. = Elle ne mange rien.
He isn't doing anything. = Il ne fait rien.
What are you doing? = Qu'est-ce que tu fais ?
What are you doing tonight? = Qu'est-ce que tu fais ce soir ?
What are you doing this weekend? = Qu'est-ce que tu fais ce week-end ?
What did you do yesterday? = Qu'est-ce que tu as fait hier ?
What did you do last summer? = Qu'est-ce que tu as fait l'été dernier ?
What is he doing? = Qu'est-ce qu'il fait ?
What is she doing in the garden? = Qu'est-ce qu'elle fait dans le jardin ?
What is the weather like? = Quel temps fait-il ?
What is the weather like in Paris? = Quel temps fait-il à Paris ?
What is the weather like today? = Quel temps fait-il aujourd'hui ?
What a beautiful day! = Quelle belle journée !
It is a beautiful day. = C'est une belle journée.
It was a beautiful day. = C'était une belle journée.
It was a long day. = C'était une longue journée.
It was a long trip. = C'était un long voyage.
It was a good party. = C'était une bonne fête.
The trip was very long. = Le voyage était très long.
The dinner was delicious. = Le dîner était délicieux.
The dinner is ready. = Le dîner est prêt.
Enjoy your meal! = Bon appétit !
Enjoy your meal, everyone! = Bon appétit, tout le monde !
What do you want to eat? = Qu'est-ce que tu veux manger ?
What do you want to drink? = Qu'est-ce que tu veux boire ?
What do you want to do tonight? = Qu'est-ce que tu veux faire ce soir ?
What would you like to eat? = Qu'est-ce que tu voudrais manger ?
I would like to see the menu, please. = Je voudrais voir le menu, s'il te plaît.
The bill, please. = L'addition, s'il te plaît.
Can I have the bill, please? = Est-ce que je peux avoir l'addition, s'il te plaît ?
Can I see the menu, please? = Est-ce que je peux voir le menu, s'il te plaît ?
A coffee and a glass of water, please. = Un café et un verre d'eau, s'il te plaît.
Two coffees, please. = Deux cafés, s'il te plaît.
Three coffees and a tea, please. = Trois cafés et un thé, s'il te plaît.
Two tickets for Paris, please. = Deux billets pour Paris, s'il te plaît.
Three tickets for Lyon, please. = Trois billets pour Lyon, s'il te plaît.
A ticket for London, please. = Un billet pour Londres, s'il te plaît.
I lost my ticket. = J'ai perdu mon billet.
I lost my passport. = J'ai perdu mon passeport.
Where is my passport? = Où est mon passeport ?
Here is my passport. = Voici mon passeport.
The train is late. = Le train est en retard.
The bus is late today. = Le bus est en retard aujourd'hui.
The plane was late. = L'avion était en retard.
I missed the train. = J'ai raté le train.
We missed the bus. = Nous avons raté le bus.
He missed the plane. = Il a raté l'avion.
We are lost. = Nous sommes perdus.
They are lost. = Ils sont perdus.
I am lost. = Je suis perdu.
Turn left, please. = Tourne à gauche, s'il te plaît.
Turn right after the bridge. = Tourne à droite après le pont.
Turn left after the church. = Tourne à gauche après l'église.
The bank is on the right. = La banque est à droite.
The station is on the left. = La gare est à gauche.
The museum is on the left. = Le musée est à gauche.
I work too much. = Je travaille trop.
You work too much. = Tu travailles trop.
My father works a lot. = Mon père travaille beaucoup.
I like my job. = J'aime mon travail.
She likes her job. = Elle aime son travail.
He is looking for a job. = Il cherche un travail.
She found a new job. = Elle a trouvé un nouveau travail.
Are you all ready? = Est-ce que vous êtes tous prêts ?
Are you all hungry? = Est-ce que vous avez tous faim ?
Are you all thirsty? = Est-ce que vous avez tous soif ?
Are you all here? = Est-ce que vous êtes tous ici ?
You are all my friends. = Vous êtes tous mes amis.
I love you all. = Je vous aime tous.
Thank you all for your help. = Merci à vous tous pour votre aide.
Thank you all for your gift. = Merci à vous tous pour votre cadeau.
I feel well today. = Je me sens bien aujourd'hui.
She feels alone. = Elle se sent seule.
He feels tired today. = Il se sent fatigué aujourd'hui.
He doesn't feel well. = Il ne se sent pas bien.
I don't feel well. = Je ne me sens pas bien.
She sings very well. = Elle chante très bien.
My sister sings very well. = Ma sœur chante très bien.
He dances very well. = Il danse très bien.
Julie dances very well. = Julie danse très bien.
Marc swims very well. = Marc nage très bien.
You speak French very well. = Tu parles très bien français.
He swims very well. = Il nage très bien.
I slept well. = J'ai bien dormi.
They slept well. = Ils ont bien dormi.
Did you sleep well? = Est-ce que tu as bien dormi ?
We ate well. = Nous avons bien mangé.
Go to bed, it is late. = Va au lit, il est tard.
Take your umbrella, it is raining. = Prends ton parapluie, il pleut.
Close the window, it is cold. = Ferme la fenêtre, il fait froid.
Open the window, it is hot. = Ouvre la fenêtre, il fait chaud.
Life is beautiful. = La vie est belle.
Life is difficult. = La vie est difficile.
That is life. = C'est la vie.
"""

# ---------------------------------------------------------------- lexicon

# By class, as "english french gender", or with irregular plurals "english/plural french/pluriel gender".
NOUNS = {
    "vehicle": "car voiture f, bike vélo m, boat bateau m",
    "transport": "bus bus m, train train m, plane avion m",
    "device": "phone téléphone m, computer ordinateur m",
    "furniture": "table table f, chair chaise f, bed lit m, lamp lampe f",
    "luggage": "bag sac m, suitcase valise f, box boîte f",
    "dish": "cup tasse f, glass verre m, plate assiette f, bottle bouteille f",
    "small": "key clé f, umbrella parapluie m, watch montre f, gift cadeau m, ball ballon m, pen stylo m",
    "paper": "book livre m, newspaper journal/journaux m, letter lettre f, photo photo f, ticket billet m",
    "show": "film film m, song chanson f, story histoire f",
    "clothes": "shirt chemise f, coat manteau m, hat chapeau m, dress robe f, jacket veste f, "
               "shoe chaussure f",
    "building": "house maison f",
    "room": "bedroom chambre f, kitchen cuisine f, garden jardin m",
    "opening": "door porte f, window fenêtre f",
    "public": "library bibliothèque f, museum musée m, bank banque f, restaurant restaurant m, "
              "hotel hôtel m, shop magasin m, bakery boulangerie f, pharmacy pharmacie f, cinema cinéma m",
    "place": "station gare f, market marché m, park parc m, beach plage f, hospital hôpital/hôpitaux m, "
             "church église f, airport aéroport m, village village m, street rue f, bridge pont m, "
             "school école f",
    "animal": "dog chien m, cat chat m, bird oiseau m, horse cheval/chevaux m",
    "plant": "flower fleur f, tree arbre m",
    "fruit": "apple pomme f, orange orange f, banana banane f, tomato tomate f, egg œuf m",
    "snack": "sandwich sandwich m, cake gâteau m",
    "nature": "sea mer f",
    "food": "bread pain m, cheese fromage m, meat viande f, fish poisson m, rice riz m, soup soupe f, "
            "chocolate chocolat m, salad salade f, sugar sucre m, butter beurre m",
    "drink": "water eau f, milk lait m, coffee café m, tea thé m, wine vin m, juice jus m",
    "study": "lesson leçon f, question question f, exercise exercice m, word mot m, job travail/travaux m",
    "mass": "money argent m, time temps m, music musique f, work travail/travaux m",
    "event": "party fête f, birthday anniversaire m",
    "kin": "parent parent m, brother frère m, sister sœur f, father père m, mother mère f, friend ami m, "
           "uncle oncle m, aunt tante f, son fils m, daughter fille f, cousin cousin m, neighbour voisin m, "
           "grandfather grand-père/grands-pères m, grandmother grand-mère/grands-mères f",
    "person": "doctor médecin m, teacher professeur m, man/men homme m, woman/women femme f, boy garçon m, "
              "girl fille f, child/children enfant m",
    "unit": "minute minute f, hour heure f, day jour m, week semaine f, month mois m, year an m, euro euro m",
}

# "english: French forms; pre or post the noun; noun classes it may stand beside"; "=" marks a fixed form.
ADJECTIVES = """
big: grand; pre; vehicle furniture luggage building room animal dish plant public
small: petit; pre; vehicle furniture luggage building room animal dish fruit public
beautiful: beau belle beaux belles bel; pre; vehicle building room animal plant clothes show
old: vieux vieille vieux vieilles vieil; pre; vehicle furniture building clothes luggage animal
new: nouveau nouvelle nouveaux nouvelles nouvel; pre; vehicle device clothes building luggage
good: bon bonne; pre; show snack
red: rouge; post; vehicle clothes dish plant luggage
blue: bleu; post; vehicle clothes dish luggage
green: vert; post; vehicle clothes opening luggage
black: noir; post; vehicle clothes animal luggage
white: blanc blanche; post; vehicle clothes animal plant
expensive: cher chère; post; vehicle device clothes
interesting: intéressant; post; show
difficult: difficile; post; study
easy: facile; post; study
important: important; post; study
long: long longue; pre; show
delicious: délicieux délicieuse délicieux délicieuses; post; snack
favourite: préféré; post;
comfortable: confortable; post;
modern: moderne; post;
empty: vide; post;
full: plein; post;
open: ouvert; post;
closed: fermé; post;
clean: propre; post;
dirty: sale; post;
heavy: lourd; post;
hot: chaud; post;
cold: froid; post;
quiet: calme; post;
tired: fatigué; post;
sick: malade; post;
happy: heureux heureuse heureux heureuses; post;
sad: triste; post;
ready: prêt; post;
busy: occupé; post;
alone: seul; post;
worried: inquiet inquiète; post;
kind: gentil gentille; post;
tall: grand; post;
young: jeune; post;
strong: fort; post;
funny: drôle; post;
rich: riche; post;
intelligent: intelligent; post;
late: =en retard; post;
angry: =en colère; post;
on holiday: =en vacances; post;
at home: =à la maison; post;
at work: =au travail; post;
"""

# What one says of what: adjectives after "is", then nouns.
SAYINGS = """
big small beautiful old new expensive clean dirty red blue green white black: car bike boat
big small beautiful quiet: village park beach street garden market
big small beautiful old modern: house hotel museum library hospital station
big small clean dirty comfortable: bedroom kitchen
open closed: bank museum library shop bakery pharmacy cinema restaurant school
open closed clean dirty: door window
comfortable old new big small: chair bed
empty full small heavy: bag suitcase box bottle
empty full clean dirty small: cup glass bottle
hot cold good delicious ready: soup coffee tea
good delicious cold expensive: bread cheese meat fish wine cake salad chocolate milk juice
clean dirty new old beautiful expensive black white red blue green: shirt coat hat dress jacket
new expensive clean dirty black: shoe
interesting long good: story film song
interesting difficult long old new: book
easy difficult important interesting long: exercise question lesson job
old new expensive beautiful: phone computer watch umbrella lamp
big small beautiful old black white: dog cat bird horse
good big small expensive: apple orange banana tomato
red green: apple tomato
"""

# Words by name: adjectives of people, of passing states; nouns that one owns, wants, gives, looks for.
WORDS = """
kind of person: kind, tall, young, strong, funny, rich, intelligent
mood: tired, sick, happy, sad, ready, busy, alone, worried, late, angry, on holiday, at home, at work
passing: good, hot, cold, open, closed, empty, full, interesting, difficult, easy, delicious, clean, dirty,
    ready
not very: late, angry, on holiday, at home, at work, alone, ready, open, closed, empty, full, delicious,
    good, red, blue, green, black, white
not more: new, heavy, hot, cold, clean, dirty, easy, quiet
owned: car, bike, boat, phone, computer, house, dog, cat, horse, watch, umbrella, suitcase, coat, hat,
    ticket, garden, lamp
one's own: bag, book, bedroom, bed, letter, photo, brother, sister, uncle, aunt, friend, cousin, son,
    daughter, doctor
ours: shoe, key, book, photo, friend, child, parent, neighbour
counted: brother, sister, child, friend, book, dog, cat, apple, orange, photo, ticket
wanted: car, bike, phone, computer, house, dog, cat, table, chair, lamp, coat, umbrella, ticket, suitcase,
    job, doctor, book
given: book, key, letter, photo, gift, ticket, watch, phone, umbrella, newspaper, pen, bag
handed: book, key, letter, ticket, phone, umbrella, newspaper, pen, bag, glass, cup, bottle, plate, chair
sent: letter, photo, gift, book
lost: dog, cat, phone, key, ticket, bag
missed: key, umbrella, bag, watch, phone, ticket, hat
for sale: book, ticket, car, bike, dress, shirt, coat, hat, watch, lamp, table, phone, computer, suitcase,
    umbrella
coloured: car, bike, shirt, coat, hat, dress, jacket, bag, suitcase, umbrella
to choose: book, film, dress, car, hat, shirt, song, cake, house, coat, table, bike
lying: key, book, letter, phone, bag, umbrella, hat, cat, dog, glass, cup, bottle, watch, ball, newspaper,
    pen, photo, gift, shirt, plate, box
frightening: dog, cat, horse, sea, teacher, doctor
shop: shop, bank, museum, library, bakery, pharmacy
in town: bank, library, museum, restaurant, hotel, shop, bakery, pharmacy, cinema, station, market, church,
    school, hospital
landmark: bank, library, museum, restaurant, hotel, cinema, station, market, church, school, hospital, park,
    bridge
destination: station, market, park, beach, hospital, church, airport, library, museum, bank, restaurant,
    hotel, bakery, pharmacy, cinema, party
liked: coffee, tea, milk, wine, cheese, chocolate, bread, fish, meat, soup, rice, music, film, dog, cat,
    horse, book, flower, apple, banana, bird
drinks: coffee, tea, milk, wine, water, juice
foods: meat, fish, cheese, rice, soup
pets: dog, cat, horse, bird
fruits: apple, banana, orange
hoped: buy, find, sell, see, visit, learn, choose, play, invite
forgotten: buy, open, close, wash, clean, take, call, do, prepare, read, repair, write
started: read, write, prepare, clean, repair, learn, sing, dance, work, do, draw
not asked: wait_for, sleep, forget
"""

# Phrases by name: "English/French".
PHRASES_BY_NAME = """
now: now/maintenant, today/aujourd'hui
past: yesterday/hier, last night/hier soir, this morning/ce matin, yesterday morning/hier matin
far past: last week/la semaine dernière, last month/le mois dernier, last year/l'année dernière,
    last summer/l'été dernier
future: tomorrow/demain, tonight/ce soir, tomorrow morning/demain matin, this weekend/ce week-end,
    this afternoon/cet après-midi
far future: next week/la semaine prochaine, next month/le mois prochain, next year/l'année prochaine,
    this summer/cet été
habit: every day/tous les jours, every morning/tous les matins, every evening/tous les soirs,
    every week/toutes les semaines, in the morning/le matin, in the evening/le soir, in summer/en été,
    in winter/en hiver
daily: every day/tous les jours, in summer/en été, in winter/en hiver
frequency: often/souvent, always/toujours, sometimes/parfois
before: yesterday/hier, last night/hier soir, this morning/ce matin, on Sunday/dimanche
later: tomorrow/demain, tonight/ce soir, this afternoon/cet après-midi, tomorrow morning/demain matin
day: Monday/lundi, Tuesday/mardi, Wednesday/mercredi, Thursday/jeudi, Friday/vendredi, Saturday/samedi,
    Sunday/dimanche
month: January/janvier, April/avril, June/juin, July/juillet, August/août, December/décembre
number: two/deux, three/trois, four/quatre, five/cinq, six/six, seven/sept, eight/huit, nine/neuf, ten/dix
big number: twelve/douze, fifteen/quinze, twenty/vingt, thirty/trente, fifty/cinquante
city: Paris/Paris, Lyon/Lyon, London/Londres, Rome/Rome, Madrid/Madrid
country: France/France, Italy/Italie, Spain/Espagne, Canada/Canada, Japan/Japon, Portugal/Portugal
degree: very/très, too/trop, really/vraiment
liked too: summer/l'été, winter/l'hiver, spring/le printemps, the sea/la mer, French/le français,
    football/le football, tennis/le tennis, Paris/Paris
feeling: hungry/faim, thirsty/soif, cold/froid, hot/chaud, right/raison, wrong/tort, afraid/peur
pain: a headache/mal à la tête, a toothache/mal aux dents, a stomach ache/mal au ventre
job: a doctor/médecin/médecin, a teacher/professeur/professeur, a student/étudiant/étudiante,
    a baker/boulanger/boulangère, a singer/chanteur/chanteuse, a nurse/infirmier/infirmière
by: by train/en train, by car/en voiture, by bus/en bus, by bike/à vélo, on foot/à pied
by far: by train/en train, by car/en voiture, by plane/en avion
stay: at home/à la maison, in bed/au lit, at the hotel/à l'hôtel
home: in a village/dans un village, in a big house/dans une grande maison,
    in a small house/dans une petite maison, near the station/près de la gare, near the sea/près de la mer,
    near the school/près de l'école, in this street/dans cette rue, near the market/près du marché
landmark link: behind/derrière, in front of/devant, next to/à côté de, near/près de
show: the film/le film, the lesson/la leçon, the party/la fête, school/l'école
event: the party/la fête, the lesson/la leçon
give: give/donne, bring/apporte
receiver: me/moi, me/moi, me/moi, us/nous, him/lui, her/lui
amount: a lot of/beaucoup de/money work friend book time, too much/trop de/sugar work coffee wine meat,
    enough/assez de/money time bread water milk
drink: a glass of/un verre de/water milk wine juice, a cup of/une tasse de/coffee tea
pack: a bottle of/une bouteille de/water milk wine juice,
    a piece of/un morceau de/bread cheese cake chocolate meat,
    a kilo of/un kilo de/rice sugar meat fish apple tomato orange
group: chair/in the kitchen/dans la cuisine, bird/in the tree/dans l'arbre, book/on the table/sur la table,
    child/in the street/dans la rue, dog/in the park/dans le parc, apple/in the bag/dans le sac,
    flower/in the garden/dans le jardin, bedroom/in this house/dans cette maison,
    horse/behind the house/derrière la maison, photo/in the letter/dans la lettre,
    cat/under the table/sous la table, shirt/in my suitcase/dans ma valise
spot: on/sur/table bed chair, under/sous/table bed chair tree, in/dans/bag box suitcase kitchen bedroom car,
    behind/derrière/door tree house, next to/à côté de/lamp bed computer door window
food spot: on the table/sur la table, in the kitchen/dans la cuisine
is: it is cold/il fait froid, it is hot/il fait chaud, the weather is nice/il fait beau,
    the weather is bad/il fait mauvais, it is raining/il pleut, it is snowing/il neige
is not: it isn't cold/il ne fait pas froid, it isn't hot/il ne fait pas chaud,
    it isn't raining/il ne pleut pas, it isn't snowing/il ne neige pas,
    the weather isn't nice/il ne fait pas beau
was: it was cold/il faisait froid, it was hot/il faisait chaud, the weather was nice/il faisait beau,
    the weather was bad/il faisait mauvais, it rained/il a plu, it snowed/il a neigé,
    it wasn't cold/il ne faisait pas froid, it didn't rain/il n'a pas plu, it didn't snow/il n'a pas neigé
was bad: it was cold/il faisait froid, it was late/il était tard, it was hot/il faisait chaud
will: it is going to be cold/il va faire froid, it is going to be hot/il va faire chaud,
    the weather is going to be nice/il va faire beau, the weather is going to be bad/il va faire mauvais,
    it is going to rain/il va pleuvoir, it is going to snow/il va neiger,
    it isn't going to rain/il ne va pas pleuvoir, it isn't going to snow/il ne va pas neiger
is it: is it cold/est-ce qu'il fait froid, is it hot/est-ce qu'il fait chaud,
    is it raining/est-ce qu'il pleut, is it snowing/est-ce qu'il neige,
    is the weather nice/est-ce qu'il fait beau
when it is: it rains/il pleut, it snows/il neige, it is cold/il fait froid, it is hot/il fait chaud,
    the weather is bad/il fait mauvais, the weather is nice/il fait beau
often in summer: it is often hot/il fait souvent chaud, it never snows/il ne neige jamais,
    it sometimes rains/il pleut parfois, the weather is often nice/il fait souvent beau
often in winter: it is often cold/il fait souvent froid, it often snows/il neige souvent,
    it often rains/il pleut souvent, it sometimes snows/il neige parfois,
    the weather is often bad/il fait souvent mauvais
late: it is late/il est tard
can't: come/venir, work/travailler, sleep/dormir, go out/sortir
doesn't want: to go out/sortir, to swim/nager, to work/travailler, to eat/manger
"""

PLACES = """
kitchen: in the kitchen/dans la cuisine
garden: in the garden/dans le jardin
home: at home/à la maison
park: in the park/dans le parc
school: at school/à l'école
market: at the market/au marché
street: in the street/dans la rue
library: at the library/à la bibliothèque
bedroom: in the bedroom/dans la chambre
station: at the station/à la gare
sea: in the sea/dans la mer
pool: at the pool/à la piscine
forest: in the forest/dans la forêt
beach: on the beach/sur la plage
hospital: at the hospital/à l'hôpital
office: in an office/dans un bureau
train: on the train/dans le train
"""

COMPARATIVES = {
    "big": "bigger", "small": "smaller", "old": "older", "long": "longer", "tall": "taller",
    "young": "younger", "strong": "stronger", "rich": "richer", "kind": "kinder", "funny": "funnier",
}

# "base past: infinitive [je tu il nous ils, participle]"; regular -er verbs need no forms.
# "+" marks the verbs that take être, "se" the reflexive ones.
VERBS = """
have had: avoir ai as a avons ont eu
want wanted: vouloir veux veux veut voulons veulent voulu
like liked: aimer
love loved: adorer
hate hated: détester
prefer preferred: préférer préfère préfères préfère préférons préfèrent préféré
need needed: avoir ai as a avons ont eu
eat ate: manger
drink drank: boire bois bois boit buvons boivent bu
buy bought: acheter achète achètes achète achetons achètent acheté
sell sold: vendre vends vends vend vendons vendent vendu
read read: lire lis lis lit lisons lisent lu
write wrote: écrire écris écris écrit écrivons écrivent écrit
open opened: ouvrir ouvre ouvres ouvre ouvrons ouvrent ouvert
close closed: fermer
look_for looked_for: chercher
find found: trouver
lose lost: perdre perds perds perd perdons perdent perdu
wash washed: laver
clean cleaned: nettoyer nettoie nettoies nettoie nettoyons nettoient nettoyé
prepare prepared: préparer
see saw: voir vois vois voit voyons voient vu
watch watched: regarder
listen_to listened_to: écouter
wear wore: porter
carry carried: porter
take took: prendre prends prends prend prenons prennent pris
wait_for waited_for: attendre attends attends attend attendons attendent attendu
forget forgot: oublier
break broke: casser
choose chose: choisir choisis choisis choisit choisissons choisissent choisi
repair repaired: réparer
visit visited: visiter
help helped: aider
call called: appeler appelle appelles appelle appelons appellent appelé
invite invited: inviter
know knew: connaître connais connais connaît connaissons connaissent connu
know_that knew: savoir sais sais sait savons savent su
understand understood: comprendre comprends comprends comprend comprenons comprennent compris
draw drew: dessiner
do did: faire fais fais fait faisons font fait
make made: faire fais fais fait faisons font fait
give gave: donner
show showed: montrer
send sent: envoyer envoie envoies envoie envoyons envoient envoyé
speak spoke: parler
learn learned: apprendre apprends apprends apprend apprenons apprennent appris
sing sang: chanter
dance danced: danser
play played: jouer
swim swam: nager
run ran: courir cours cours court courons courent couru
walk walked: marcher
sleep slept: dormir dors dors dort dormons dorment dormi
work worked: travailler
travel travelled: voyager
live lived: habiter
think thought: penser
say said: dire dis dis dit disons disent dit
hope hoped: espérer espère espères espère espérons espèrent espéré
try tried: essayer essaie essaies essaie essayons essaient essayé
start started: commencer
decide decided: décider
cost cost: coûter
go went: +aller vais vas va allons vont allé
come came: +venir viens viens vient venons viennent venu
come_back came_back: +revenir reviens reviens revient revenons reviennent revenu
come_home came_home: +rentrer
arrive arrived: +arriver
leave left: +partir pars pars part partons partent parti
stay stayed: +rester
go_out went_out: +sortir sors sors sort sortons sortent sorti
get_up got_up: se lever lève lèves lève levons lèvent levé
go_to_bed went_to_bed: se coucher
rest rested: se reposer
can could: pouvoir peux peux peut pouvons peuvent pu
must must: devoir dois dois doit devons doivent dû
have_to had_to: devoir dois dois doit devons doivent dû
would_like would_like: vouloir voudrais voudrais voudrait voudrions voudraient voulu
know_how know_how: savoir sais sais sait savons savent su
"""
# Actions: "verb tenses | determiners: nouns | ... | =: fixed objects en/fr[/fr after a negation] | @ places".
# Tenses: P present, D past, F future and infinitive, I imperative.
ACTIONS = """
eat PDFI | a num: apple orange banana sandwich egg | some: bread cheese meat fish rice soup salad chocolate
    | @ kitchen garden home park
drink PDFI | some: water milk coffee tea wine juice | @ kitchen garden home
buy PDFI | a: car bike phone computer table lamp dress hat coat watch umbrella gift book newspaper ticket
    | num: apple orange banana ticket book | some: bread cheese meat fish milk wine rice sugar butter
    | @ market
sell DF | the own this: car bike house boat computer table horse
read PDFI | a the this: book newspaper letter story | @ garden library home bedroom
write PDFI | a: letter book story song | @ bedroom home
open DFI | the this: door window letter box suitcase bottle | own: bag suitcase
close DFI | the this: door window box bag suitcase
look_for PD | own: key phone umbrella ticket dog cat hat bag watch | the: station museum hotel bank
find DF | own the: key phone umbrella ticket dog cat hat bag watch | a: hotel restaurant job
lose D | own: key phone umbrella ticket hat bag watch dog cat ball
wash DFI | the own: car dog cup plate shirt coat bike window
clean DFI | the own: kitchen bedroom table house bike window
prepare PDFI | =: dinner/le dîner, breakfast/le petit déjeuner | the some: soup salad | @ kitchen
see D | a the num: film bird horse dog | @ park street
watch PDFI | a the this: film | =: television/la télévision | @ home bedroom
listen_to PDFI | the this: song story | =: music/de la musique/de musique, the radio/la radio
    | @ home kitchen bedroom
wear P | a own: coat hat shirt jacket
carry DF | a the own: bag suitcase box chair
take DFI | the: train bus plane | a: photo | own: umbrella bag coat
wait_for PDF | the: bus train plane doctor | own: brother sister friend mother father | @ street station
forget D | own: key umbrella ticket bag phone book
break D | a the: cup glass plate window bottle chair lamp
choose DFI | a the this: gift dress hat hotel restaurant book film
repair DF | the own this: car bike computer phone boat watch lamp door
visit DFI | the this: museum church village | =: Paris/Paris, Rome/Rome, Madrid/Madrid
help DF | own: brother sister mother father friend neighbour grandmother | the: child teacher
call DF | own: brother sister mother father friend uncle aunt cousin | the: doctor
invite DF | own: brother sister friend neighbour cousin aunt uncle
draw DFI | a the: house cat dog bird horse tree flower boat | @ school
do PDFI | =: the dishes/la vaisselle, the shopping/les courses, MY homework/MES devoirs
make PDF | a: cake sandwich salad | @ kitchen
learn PF | =: French/le français, English/l'anglais, Spanish/l'espagnol | this: song word | @ school
play PDF | =: football/au football, tennis/au tennis, the piano/du piano, the guitar/de la guitare,
    with the dog/avec le chien, with the cat/avec le chat | @ park garden street
sing DF | a this: song | =: / | @ garden street kitchen
dance DF | =: / | @ garden street kitchen
swim DF | =: / | @ sea pool
walk DF | =: / | @ park street forest beach
sleep PDF | =: / | @ garden home bedroom train
work PDF | =: / | @ garden home hospital library office
"""

# What people do, as "verb: fixed objects".  Habits are said in the present too, hobbies in the infinitive.
HABITS = """
drink: coffee/du café/de café, tea/du thé/de thé, milk/du lait/de lait, wine/du vin/de vin,
    water/de l'eau/d'eau
eat: meat/de la viande/de viande, fish/du poisson/de poisson, bread/du pain/de pain, rice/du riz/de riz,
    apples/des pommes/de pommes, chocolate/du chocolat/de chocolat, at the restaurant/au restaurant
play: football/au football, tennis/au tennis, the piano/du piano, the guitar/de la guitare
listen_to: music/de la musique/de musique, the radio/la radio
watch: films/des films/de films, television/la télévision
read: books/des livres/de livres, the newspaper/le journal
work: at home/à la maison, in the garden/dans le jardin, at the library/à la bibliothèque
go: to the cinema/au cinéma, to the beach/à la plage, to the museum/au musée, to school/à l'école
do: the shopping/les courses, the dishes/la vaisselle, MY homework/MES devoirs
take: photos/des photos/de photos, the train/le train, the bus/le bus
prepare: dinner/le dîner, breakfast/le petit déjeuner
speak: French/français, English/anglais, with MY friends/avec MES amis
"""
HOBBIES = """
get_up: early/tôt, late/tard
swim: /, in the sea/dans la mer, at the pool/à la piscine
dance: /, with MY friends/avec MES amis
sing: /, with MY friends/avec MES amis
run: in the park/dans le parc, in the forest/dans la forêt
walk: in the forest/dans la forêt, on the beach/sur la plage
travel: by train/en train, by car/en voiture, by plane/en avion, with MY friends/avec MES amis
write: letters/des lettres, stories/des histoires
go_out: with MY friends/avec MES amis
rest: /, in the garden/dans le jardin
go_to_bed: early/tôt, late/tard
stay: at home/à la maison, in bed/au lit
"""
SKILLS = """
swim: /
dance: /
sing: /
read: /
write: /
play: the piano/du piano, the guitar/de la guitare, tennis/au tennis, football/au football
repair: cars/les voitures, computers/les ordinateurs, bikes/les vélos
speak: French/français, English/anglais, Spanish/espagnol
draw: horses/des chevaux, birds/des oiseaux, houses/des maisons
"""

# What one does in bad weather or in a sad mood, in the same form.
COMFORTS = """
sleep: /
stay: at home/à la maison, in bed/au lit
read: a book/un livre
drink: tea/du thé
take: the bus/le bus
listen_to: music/de la musique
watch: television/la télévision
"""

# Verbs before an infinitive, with what stands between.  Those in AFFIRMATIVE are not negated here, those in
# UNASKED not asked.
WISHES = {
    "want": ("to", ""), "can": ("", ""), "must": ("", ""), "have_to": ("", ""), "would_like": ("to", ""),
    "need": ("to", "besoin de"), "try": ("to", "de"), "hope": ("to", ""),
}
AFFIRMATIVE = {"have_to", "would_like", "try", "hope"}
UNASKED = {"must", "try", "hope"}

# "What did you eat?": verbs and tenses.
QUESTIONED = """
eat PDF, drink PD, buy DF, find D, lose D, see D, read P, write PD, look_for P, prepare PF, forget D,
    break D, choose D, do F, learn P, listen_to P, watch P, sell FD
"""

# "share mark English = French": sentences whose {slots} are filled alike on both sides (see SLOTS).
TEMPLATES = """
7 . today is {day} = aujourd'hui, c'est {day}
7 . tomorrow is {day} = demain, c'est {day}
9 . it is {number} o'clock = il est {number} heures
12 . it is {number} o'clock in {city} = il est {number} heures à {city}
9 . it is already {number} o'clock = il est déjà {number} heures
11 . {event} is on {day} = {event} est {day}
18 . {birthday} is in {month} = {birthday} est en {month}
14 . {birthday} is on {day} = {birthday} est {day}
17 . {shop} opens at {number} o'clock = {shop} ouvre à {number} heures
17 . {shop} closes at {number} o'clock = {shop} ferme à {number} heures
14 . {ride} leaves at {number} o'clock = {ride} part à {number} heures
14 . {ride} arrives at {number} o'clock = {ride} arrive à {number} heures
14 . {show} starts at {number} o'clock = {show} commence à {number} heures
6 ? what time does {shop} open = à quelle heure est-ce que {shop} ouvre
6 ? what time does {shop} close = à quelle heure est-ce que {shop} ferme
3 ? what time does {ride} leave = à quelle heure est-ce que {ride} part
3 ? what time does {ride} arrive = à quelle heure est-ce que {ride} arrive
7 ? what time does {show} start = à quelle heure est-ce que {show} commence
30 . {weather} {where}
12 . {weather} {now}
30 . {was} {where} {before}
12 . {was} {before}
30 . {will} {where} {later}
12 . {will} {later}
20 ? {is it} {where}
8 ? {is it} {now}
16 . {often in summer} {where} in summer = {often in summer} {where} en été
20 . {often in winter} {where} in winter = {often in winter} {where} en hiver
14 ? where is {town} = où est {town}
23 ? where is {lying} = où est {lying}
8 ? where is {relative} = où est {relative}
6 ? where are {relatives} = où sont {relatives}
20 ? where are {ours} = où sont {ours}
12 ? excuse me, where is {town} = excuse-moi, où est {town}
9 ? is there {a town} near here = est-ce qu'il y a {a town} près d'ici
30 . here is {mine} = voici {mine}
15 . here are {ours} = voici {ours}
46 . this is {mine} = c'est {mine}
23 . this isn't {mine} = ce n'est pas {mine}
27 ? is this {mine} = est-ce que c'est {mine}
23 . these are {ours} = ce sont {ours}
11 . these aren't {ours} = ce ne sont pas {ours}
15 ? are these {ours} = est-ce que ce sont {ours}
30 ? what colour is {coloured} = de quelle couleur est {coloured}
20 ? how much does {ware} cost = combien coûte {ware}
35 . {ware} costs {price} euros = {ware} coûte {price} euros
11 . I would like {pack}, please = je voudrais {pack}, s'il te plaît
6 . I would like {drink}, please = je voudrais {drink}, s'il te plaît
12 . I would like {some}, please = je voudrais {some}, s'il te plaît
9 ? can I have {pack}, please = est-ce que je peux avoir {pack}, s'il te plaît
6 ? can I have {drink}, please = est-ce que je peux avoir {drink}, s'il te plaît
9 ? can I have {some}, please = est-ce que je peux avoir {some}, s'il te plaît
23 . let's go {to} = allons {to}
15 . let's go {to} {later} = allons {to} {later}
12 ? who wants {some} = qui veut {some}
9 ? who likes {liked} = qui aime {liked}
15 ? who has {mine} = qui a {mine}
"""

# ---------------------------------------------------------------- spelling

VOWELS = "aeiouyàâéèêëîïôùûœh"
ASPIRATED = {"huit", "onze", "oui"}
LETTER = "[A-Za-zÀ-ÿŒœ]"


def words(*parts):
    return " ".join(p for p in parts if p)


def starts_with_vowel(word):
    """True where the French word before it is elided: a vowel or a mute h."""
    return word[0].lower() in VOWELS and re.match(f"{LETTER}+", word).group().lower() not in ASPIRATED


def elide(match):
    short, following = match.group(1), match.group(2)
    return short[:-1] + "'" if starts_with_vowel(following) else match.group()


def contract(fr):
    """Elision and contraction: "de le hôtel" is "de l'hôtel", "à le cinéma" is "au cinéma".

    Object pronouns come in capitals (LE, LA, LES), because they never contract.
    """
    fr = re.sub(rf"(?<![\w'-])(je|me|te|se|le|la|de|ne|que|LE|LA) (?=({LETTER}+))", elide, fr)
    fr = re.sub(r"\bsi (?=ils?\b)", "s'", fr)
    for split, joined in (("de le", "du"), ("de les", "des"), ("à le", "au"), ("à les", "aux")):
        fr = re.sub(rf"\b{split} ", joined + " ", fr)
    return re.sub(r"\b(LE|LA|LES|L)\b", lambda m: m.group().lower(), fr)


def pair(en, fr, mark="."):
    """One finished line from two lower-case phrases: spelling, capitals, final punctuation."""
    en, fr = re.sub(r"\ba (?=[aeiou])", "an ", en), contract(fr)
    return en[0].upper() + en[1:] + mark, fr[0].upper() + fr[1:] + ("." if mark == "." else " " + mark)


def english_plural(word):
    if re.search(r"(s|x|ch|sh|tomato)$", word):
        return word + "es"
    return word[:-1] + "ies" if re.search(r"[^aeo]y$", word) else word + "s"


def french_plural(word):
    if word[-1] in "sxz":
        return word
    return word + "x" if word.endswith(("eau", "eu")) else word + "s"


def feminine(masculine):
    return masculine if masculine.endswith("e") else masculine + "e"


# ---------------------------------------------------------------- parts of speech

class Noun(NamedTuple):
    en: tuple           # singular, plural
    fr: tuple
    female: bool
    kind: str


class Adjective(NamedTuple):
    en: str
    fr: tuple           # masculine, feminine, their plurals, masculine before a vowel
    before: bool
    kinds: frozenset


class Verb(NamedTuple):
    en: tuple           # base, third person, past, -ing form
    infinitive: str
    present: tuple      # je, tu, il, nous, ils
    participle: str
    etre: bool
    reflexive: bool


class Subject(NamedTuple):
    """Also any noun phrase: what agreement needs, and the determiner that means its own."""
    en: str
    fr: str
    person: int         # index into Verb.present
    female: bool
    own: str

    @property
    def plural(self):
        return self.person > 2


def parse_noun(text, kind):
    en, fr, gender = text.split()
    (en, *ens), (fr, *frs) = en.split("/"), fr.split("/")
    ens, frs = ens or [english_plural(en)], frs or [french_plural(fr)]
    return Noun((en, *ens), (fr, *frs), gender == "f", kind)


def parse_adjective(line):
    en, rest = line.split(":")
    forms, place, kinds = (part.strip() for part in rest.split(";"))
    fixed = forms.startswith("=")
    fr = [forms[1:]] * 5 if fixed else forms.split()
    if len(fr) < 2:
        fr.append(feminine(fr[0]))
    if len(fr) < 4:
        fr += [french_plural(fr[0]), french_plural(fr[1])]
    if len(fr) < 5:
        fr.append(fr[0])
    return Adjective(en, tuple(fr), place == "pre", frozenset(kinds.split()))


IRREGULAR_ENGLISH = {"have": ("has", "having"), "go": ("goes", "going"), "do": ("does", "doing"),
                     "get": ("gets", "getting"), "run": ("runs", "running"), "swim": ("swims", "swimming"),
                     "travel": ("travels", "travelling")}


def english_forms(base):
    """Third person and -ing form; of "look for" the first word changes."""
    first, _, rest = base.partition(" ")
    if first in IRREGULAR_ENGLISH:
        third, ing = IRREGULAR_ENGLISH[first]
    else:
        third = english_plural(first)
        ing = (first[:-1] if re.search(r"[^e]e$", first) else first) + "ing"
    return words(third, rest), words(ing, rest)


def regular_french(infinitive):
    stem = infinitive[:-2]
    soft = {"g": stem + "e", "c": stem[:-1] + "ç"}.get(stem[-1], stem)
    return [stem + "e", stem + "es", stem + "e", soft + "ons", stem + "ent", stem + "é"]


def parse_verb(line):
    english, french = line.split(": ")
    key, past = english.split()
    base = key.removesuffix("_that").replace("_", " ")
    third, ing = english_forms(base)
    head, *forms = french.removeprefix("se ").split()
    infinitive = head.removeprefix("+")
    forms = forms or regular_french(infinitive)
    return key, Verb((base, third, past.replace("_", " "), ing), infinitive, tuple(forms[:5]), forms[5],
                     head != infinitive, french.startswith("se "))


def by_english(nouns):
    return {noun.en[0]: noun for noun in nouns}


def lines(text):
    """The lines of a table; an indented line goes on with the one before."""
    return re.sub(r"\n\s+", " ", text.strip()).split("\n")


def table(text):
    """ "name: one, another" as a dict of lists."""
    rows = (line.split(": ", 1) for line in lines(text))
    return {name: row.split(", ") for name, row in rows}


NOUN_LIST = [parse_noun(text, kind) for kind, row in NOUNS.items() for text in row.split(", ")]
NOUN = by_english(NOUN_LIST)
ADJ = {adj.en: adj for adj in map(parse_adjective, lines(ADJECTIVES))}
VERB = dict(map(parse_verb, lines(VERBS)))
WORD, PHRASE = table(WORDS), table(PHRASES_BY_NAME)
NUMBERS = dict(text.split("/") for text in PHRASE["number"] + PHRASE["big number"])

# ---------------------------------------------------------------- noun phrases

POSSESSIVES = {"my": ("mon", "ma", "mes"), "your": ("ton", "ta", "tes"), "his": ("son", "sa", "ses"),
               "her": ("son", "sa", "ses"), "our": ("notre", "notre", "nos"),
               "their": ("leur", "leur", "leurs")}
PLURAL_NOUNS = {"shoe"}
OFTEN_PLURAL = {"key", "flower", "book", "photo", "letter", "egg", "tomato", "shirt", "plate", "exercise"}


def french_determiner(det, female, plural, following):
    if det in ("the", "all"):
        return "les" if plural else "la" if female else "le"
    if det == "some":
        return "des" if plural else "de la" if female else "de le"
    if det in ("no", "any"):
        return "de"
    if det == "a":
        return "une" if female else "un"
    if det == "this":
        return "ces" if plural else "cette" if female else "cet" if starts_with_vowel(following) else "ce"
    if det in POSSESSIVES:
        male, fem, many = POSSESSIVES[det]
        return many if plural else fem if female and not starts_with_vowel(following) else male
    return NUMBERS[det]


def english_determiner(det, plural):
    """After a negation (French "de") "no" stands for "a" and "any" for "some"; "all" is no word."""
    if det == "this" and plural:
        return "these"
    return {"no": "a", "all": ""}.get(det, det)


def french_noun_group(noun, adj, plural):
    """Noun and adjective in French order, agreeing."""
    text = noun.fr[plural]
    if not adj:
        return text
    if not adj.before:
        return words(text, adj.fr[noun.female + 2 * plural])
    before_vowel = not noun.female and not plural and starts_with_vowel(text)       # "un bel hôtel"
    return words(adj.fr[4 if before_vowel else noun.female + 2 * plural], text)


def phrase(noun, det, adj=None, plural=None):
    """A noun phrase as a Subject, so that verbs and adjectives can agree with it."""
    noun, adj = NOUN.get(noun, noun), ADJ.get(adj, adj)
    if plural is None:
        plural = noun.en[0] in PLURAL_NOUNS or det in NUMBERS
    group = french_noun_group(noun, adj, plural)
    en = words(english_determiner(det, plural), adj and adj.en, noun.en[plural])
    fr = words(french_determiner(det, noun.female, plural, group), group)
    own = "their" if plural else "her" if noun.female else "his"
    return Subject(en, fr, 4 if plural else 2, noun.female, own)


# ---------------------------------------------------------------- clauses

PRONOUNS = {"I": Subject("I", "je", 0, False, "my"), "you": Subject("you", "tu", 1, False, "your"),
            "he": Subject("he", "il", 2, False, "his"), "she": Subject("she", "elle", 2, True, "her"),
            "we": Subject("we", "nous", 3, False, "our"), "they": Subject("they", "ils", 4, False, "their")}
NAMES = [Subject("Paul", "Paul", 2, False, "his"), Subject("Marc", "Marc", 2, False, "his"),
         Subject("Julie", "Julie", 2, True, "her"), Subject("Claire", "Claire", 2, True, "her")]
DISJUNCTIVE = {"me": "moi", "you": "toi", "him": "lui", "her": "elle", "us": "nous", "them": "eux"}

AVOIR = ("ai", "as", "a", "avons", "ont")
ETRE = ("suis", "es", "est", "sommes", "sont")
ALLER = VERB["go"].present
AVAIT = ("avais", "avais", "avait", "avions", "avaient")
ETAIT = ("étais", "étais", "était", "étions", "étaient")
REFLEXIVE = ("me", "te", "se", "nous", "se")
NOT = {"am": "am not", "can": "can't", "must": "must not"}


def is_third(s):
    return s.person == 2


def be(s):
    return "am" if s.person == 0 else "is" if is_third(s) else "are"


def was(s):
    return "was" if s.person in (0, 2) else "were"


def negated(aux):
    return NOT.get(aux, aux + "n't")


def with_auxiliary(s, aux, rest, neg, ask):
    """ "he is ...", "he isn't ...", "is he ..." """
    if ask:
        return words(aux, s.en, rest)
    return words(s.en, negated(aux) if neg else aux, rest)


def english_clause(s, verb, tense, rest, neg=False, ask=False):
    base, third, past, ing = verb.en
    if base.split()[0] in ("can", "must", "would"):
        aux, _, more = base.partition(" ")
        return with_auxiliary(s, aux, words(more, rest), neg, ask)
    if tense in ("progressive", "future"):
        doing_it = ing if tense == "progressive" else "going to " + base
        return with_auxiliary(s, be(s), words(doing_it, rest), neg, ask)
    if neg or ask:
        aux = "did" if tense == "past" else "does" if is_third(s) else "do"
        return with_auxiliary(s, aux, words(base, rest), neg, ask)
    return words(s.en, past if tense == "past" else third if is_third(s) else base, rest)


def agreed(participle, s):
    return participle + "e" * s.female + "s" * s.plural


def french_infinitive(s, verb):
    """With the reflexive pronoun of its subject: "je vais me lever"."""
    return words(REFLEXIVE[s.person] if verb.reflexive else "", verb.infinitive)


def french_clause(s, verb, tense, rest, neg="", ask=False):
    """neg is the word after the verb: "pas", "jamais", or "" where nothing is negated."""
    own = REFLEXIVE[s.person] if verb.reflexive else ""
    if tense == "future":
        own, finite, rest = "", ALLER[s.person], words(french_infinitive(s, verb), rest)
    elif tense == "past":
        moves = verb.etre or verb.reflexive
        finite = (ETRE if moves else AVOIR)[s.person]
        rest = words(agreed(verb.participle, s) if moves else verb.participle, rest)
    else:
        finite = verb.present[s.person]
    return words("est-ce que" if ask else "", s.fr, "ne" if neg else "", own, finite, neg, rest)


def clause(s, verb, tense, rest=("", ""), neg=False, ask=False):
    verb = VERB.get(verb, verb)
    return (english_clause(s, verb, tense, rest[0], neg, ask),
            french_clause(s, verb, tense, rest[1], "pas" if neg else "", ask))


def copula(s, rest, tense="present", neg=False, ask=False, having=False):
    """ "to be" with a complement; having: French says "avoir" (faim, peur, dix ans)."""
    present, past = (AVOIR, AVAIT) if having else (ETRE, ETAIT)
    verb = (past if tense == "past" else present)[s.person]
    ne, pas = ("ne", "pas") if neg else ("", "")
    fr = words("est-ce que" if ask else "", s.fr, ne, verb, pas, rest[1])
    return with_auxiliary(s, was(s) if tense == "past" else be(s), rest[0], neg, ask), fr


def quality(s, adj, degree=("", "")):
    """An adjective that agrees with s, as the complement of copula()."""
    adj = ADJ.get(adj, adj)
    return words(degree[0], adj.en), words(degree[1], adj.fr[s.female + 2 * s.plural])


def doing(s, verb, rest=("", "")):
    """The infinitive phrase, English without "to"."""
    verb = VERB.get(verb, verb)
    return words(verb.en[0], rest[0]), words(french_infinitive(s, verb), rest[1])


def join(*phrases):
    """Phrase by phrase in both languages."""
    return words(*(p[0] for p in phrases)), words(*(p[1] for p in phrases))


def both(s):
    return s.en, s.fr


# ---------------------------------------------------------------- choosing

NOTHING = ("", "")
TENSE_OF = {"P": "progressive", "D": "past", "F": "future"}
PLURAL_KIN = ("parent", "child", "friend", "neighbour")
KIN = [noun.en[0] for noun in NOUN_LIST if noun.kind == "kin" and noun.en[0] != "parent"]
PEOPLE = [noun.en[0] for noun in NOUN_LIST if noun.kind == "person"]
FOODS = [noun.en[0] for noun in NOUN_LIST if noun.kind in ("food", "drink")]
PRONOUN_OF = {s.own: s for s in PRONOUNS.values()}
MASCULINE_COUNTRIES = {"Canada", "Japon", "Portugal"}
EXCLAIMED = [adj for adj in ADJ.values() if adj.before and adj.en != "new"]


def one(options):
    return RNG.choice(options if isinstance(options, (list, tuple)) else list(options))


def roll(chance):
    return RNG.random() < chance


def perhaps(chance, make, *args):
    return make(*args) if roll(chance) else NOTHING


def slashed(text, s=None, neg=False):
    """ "coffee/du café/de café" as a phrase pair; MY, MES become the subject's own; "/" is nothing."""
    en, fr, *after_negation = text.split("/")
    fr = after_negation[0] if neg and after_negation else fr
    if s:
        en, fr = en.replace("MY", s.own), fr.replace("MES", POSSESSIVES[s.own][2])
    return en, fr


def any_of(*names):
    """A phrase pair out of the named lists."""
    return slashed(one([text for name in names for text in PHRASE[name]]))


def a_word(name):
    return one(WORD[name])


def the(nouns):
    return both(phrase(one(nouns), "the"))


def relative(det=None, many=0.2):
    if roll(many):
        return phrase(one(PLURAL_KIN), det or one(POSSESSIVES), plural=True)
    return phrase(one(KIN), det or one(POSSESSIVES))


def somebody(ask=False):
    """Subject of a sentence about people."""
    draw = RNG.random()
    if draw < 0.6:
        return PRONOUNS[one(("you", "you", "he", "she", "they", *(() if ask else ("I", "I", "we"))))]
    if draw < 0.84:
        return relative()
    return phrase(one(PEOPLE), "the") if draw < 0.93 else one(NAMES)


def other_than(s):
    """Somebody else, to whom or with whom s does something."""
    other = one((relative(s.own), relative(s.own), phrase(one(PEOPLE), "the"), one(NAMES)))
    return both(other) if other.en != s.en else both(relative(s.own, many=1))


def other_pronoun(s, pronouns):
    """Not "we" and "us", not "you" and "you"."""
    selves = {"my": ("me", "us"), "our": ("me", "us"), "your": ("you",)}.get(s.own, ())
    return one([p for p in pronouns if p not in selves])


def companion(s):
    pronoun = other_pronoun(s, DISJUNCTIVE)
    return join(("with", "avec"), (pronoun, DISJUNCTIVE[pronoun]) if roll(0.4) else other_than(s))


def thing(noun, det, s=None, neg=False, chance=0.3):
    """An object: det may be "own" (the subject's) or "num"; after a negation French says "de"."""
    noun = NOUN[noun]
    det = {"a": "no", "num": "no", "some": "any"}.get(det, det) if neg else det
    if det in ("own", "num"):
        det = any_of("number")[0] if det == "num" else s.own
    plural = det in NUMBERS or (noun.en[0] in OFTEN_PLURAL and det not in ("a", "no") and roll(0.5))
    fitting = [adj for adj in ADJ.values() if noun.kind in adj.kinds]
    return phrase(noun, det, one(fitting) if fitting and not plural and roll(chance) else None, plural)


def general(noun):
    """What one likes in general: "cheese/le fromage", "dogs/les chiens"."""
    noun = NOUN[noun]
    return both(phrase(noun, "all", plural=noun.kind not in ("food", "drink", "mass")))


def this_thing(noun):
    """A thing as a subject; what nobody owns is "the" or "this"."""
    unowned = ("public", "place", "food", "drink", "fruit", "study", "opening", "show")
    ownable = noun != "dress" and NOUN[noun].kind not in unowned
    return phrase(noun, one(("the", "the", "this", *(POSSESSIVES if ownable else ()))))


class Action(NamedTuple):
    verb: str
    tenses: str
    objects: list       # of (determiners, noun) or ("=", fixed)
    places: list


def parse_objects(field):
    dets, nouns = (part.strip() for part in field.split(":"))
    if dets == "=":
        return [("=", fixed) for fixed in nouns.split(", ")]
    return [(dets.split(), noun) for noun in nouns.split()]


def parse_action(line):
    head, *fields = (field.strip() for field in line.split("|"))
    verb, tenses = head.split()
    places = fields.pop()[1:].split() if fields[-1].startswith("@") else []
    return Action(verb, tenses, [o for field in fields for o in parse_objects(field)], places)


def parse_pastimes(text):
    return [(verb, fixed) for verb, row in table(text).items() for fixed in row]


ACTION_LIST = [parse_action(line) for line in lines(ACTIONS)]
HABIT_LIST, HOBBY_LIST, SKILL_LIST = map(parse_pastimes, (HABITS, HOBBIES, SKILLS))
PLACE = {name: slashed(row[0]) for name, row in table(PLACES).items()}
SAYING_LIST = [(adjs.split(), nouns.split()) for adjs, nouns in (line.split(": ") for line in lines(SAYINGS))]
QUESTION_LIST = [(verb, tense) for verb, tenses in (text.split() for text in lines(QUESTIONED)[0].split(", "))
                 for tense in tenses]


def action(tense, only=None):
    """An action that is said in this tense, perhaps only one of a named list of verbs."""
    return one([a for a in ACTION_LIST if tense in a.tenses and (not only or a.verb in WORD[only])])


def action_object(act, s, neg=False):
    dets, what = one(act.objects)
    if dets == "=":
        return slashed(what, s, neg)
    return both(thing(what, one(dets), s, neg, chance=1 if act.verb == "wear" else 0.2))


def pastime(choices, s, neg=False):
    verb, fixed = one(choices)
    return verb, slashed(fixed, s, neg)


def at_hour():
    return join(("at", "à"), any_of("number"), ("o'clock", "heures"))


def ago():
    unit = NOUN[one(("day", "week", "month", "year"))]
    en, fr = any_of("number")
    return f"{en} {unit.en[1]} ago", f"il y a {fr} {unit.fr[1]}"


def on_day():
    return join(("on", ""), any_of("day"))


def in_month():
    return join(("in", "en"), any_of("month"))


def when(tense, far=False):
    """A time that fits the tense; far: for what one doesn't do every day."""
    if tense not in ("past", "future"):
        return any_of("now")
    if roll(0.25):
        return one((on_day, in_month if far else on_day, ago if tense == "past" else on_day))()
    return any_of("far " + tense if far else tense)


def adjunct(s, tense, places=()):
    """Where, with whom, when, or nothing."""
    draw = RNG.random()
    if draw < 0.3 and places:
        return PLACE[one(places)]
    if draw < 0.4 and places and "bedroom" not in places:
        return companion(s)
    return perhaps(0.5, when, tense)


def city(link_en="in", link_fr="à"):
    return join((link_en, link_fr), any_of("city"))


def country(link="in"):
    en, fr = any_of("country")
    to, of = ("au", "du") if fr in MASCULINE_COUNTRIES else ("en", "de")
    return f"{link} {en}", f"{of if link == 'from' else to} {fr}"


def city_or_country():
    return one((city, country))()


def to_place():
    """(phrase pair, whether it is far away)"""
    draw = RNG.random()
    if draw < 0.65:
        return join(("to", "à"), the(WORD["destination"])), False
    return (country("to") if draw < 0.85 else city("to")), True


def from_place():
    draw = RNG.random()
    if draw < 0.4:
        return join(("from", "de"), the(WORD["destination"]))
    return country("from") if draw < 0.7 else city("from", "de")


def late_or_early():
    return one((("late", "tard"), ("early", "tôt"), at_hour()))


def spot():
    """Where things lie."""
    en, fr, nouns = one(PHRASE["spot"]).split("/")
    noun = one(nouns.split())
    owned = noun not in ("tree", "door", "window") and roll(0.5)
    return join((en, fr), both(phrase(noun, one(POSSESSIVES) if owned else "the")))


def spot_in_town():
    return join(any_of("landmark link"), the(WORD["landmark"]))


def measure(name):
    """ "a kilo of apples" """
    en, fr, nouns = one(PHRASE[name]).split("/")
    noun = NOUN[one(nouns.split())]
    plural = noun.kind in ("fruit", "kin", "paper")
    return f"{en} {noun.en[plural]}", f"{fr} {noun.fr[plural]}"


def degree(adj, chance=0.4):
    return perhaps(0 if adj in WORD["not very"] else chance, any_of, "degree")


def comparable(adjectives):
    return [a for a in adjectives if a not in WORD["not very"] + WORD["not more"]]


def compared(adj, s):
    """ "bigger than", "more modern than", "as ... as", "less ... than", with the agreeing adjective."""
    form = ADJ[adj].fr[s.female + 2 * s.plural]
    way = one(("more", "as") if adj in COMPARATIVES else ("more", "as", "less"))
    if way == "as":
        return f"as {adj} as", f"aussi {form} que"
    if way == "less":
        return f"less {adj} than", f"moins {form} que"
    return COMPARATIVES.get(adj, "more " + adj) + " than", f"plus {form} que"


# ---------------------------------------------------------------- the kinds of sentence

FAMILIES = []


def family(share, neg=0.2, ask=0.2):
    """Registers make(s, neg, ask), which makes a random clause about the subject s, negated or asked.

    share is how many sentences of it the file holds; neg and ask are the parts that are negated or asked.
    """
    def register(make):
        def sentence():
            draw = RNG.random()
            is_neg, is_ask = draw < neg, neg <= draw < neg + ask
            made = make(somebody(is_ask), is_neg, is_ask)
            return made and pair(*made, "?" if is_ask else ".")
        FAMILIES.append((share, sentence))
        return make
    return register


def free_family(share):
    """Registers make(), which makes a finished sentence."""
    def register(make):
        FAMILIES.append((share, make))
        return make
    return register


# ---- doing

@family(610)
def somebody_does_something(s, neg, ask):
    letter = one(TENSE_OF)
    act, tense = action(letter), TENSE_OF[letter]
    rest = join(action_object(act, s, neg), adjunct(s, tense, act.places))
    return clause(s, act.verb, tense, rest, neg, ask)


def wished(s, wish, what, neg, ask):
    """ "he wants to ...", with the phrase after "to"; None for what one would not say so."""
    if (neg and wish in AFFIRMATIVE) or (ask and wish in UNASKED):
        return None
    return clause(s, wish, "progressive" if wish == "try" else "present", join(WISHES[wish], what), neg, ask)


@family(250)
def somebody_wants_to_do_something(s, neg, ask):
    wish = one(WISHES)
    if ask and wish == "can" and roll(0.5):
        s = PRONOUNS[one(("I", "we"))]
    act = action("F", "hoped" if wish == "hope" else None)
    time = perhaps(0.3, when, "progressive" if wish == "try" else "future")
    return wished(s, wish, join(doing(s, act.verb, action_object(act, s, neg)), time), neg, ask)


@family(45, neg=0, ask=0)
def somebody_forgot_or_decided(s, neg, ask):
    verb, link = one((("forget", ("to", "de")), ("decide", ("to", "de")), ("start", ("to", "à"))))
    act = action("F", "started" if verb == "start" else "forgotten")
    return clause(s, verb, "past", join(link, doing(s, act.verb, action_object(act, s))))


@family(130)
def somebody_likes_doing(s, neg, ask):
    liking = one(("like", "like", "love", "hate", "prefer"))
    if (neg or ask) and liking != "like":
        return None
    verb, what = pastime(HOBBY_LIST + HABIT_LIST, s)
    return clause(s, liking, "present", join(("to", ""), doing(s, verb, what)), neg, ask)


@family(70)
def somebody_can_do(s, neg, ask):
    what = doing(s, *pastime(SKILL_LIST, s))
    if roll(0.7):
        return clause(s, "know_how", "present", join(("to", ""), what), neg, ask)
    return clause(s, "learn", "progressive", join(("to", "à"), what), neg, ask)


@family(115, neg=0)
def somebody_has_a_habit(s, neg, ask):
    verb, what = pastime(HABIT_LIST, s)
    return clause(s, verb, "present", join(what, any_of("habit")), neg, ask)


@family(115, neg=0.4, ask=0)
def somebody_does_it_often_or_never(s, never, ask):
    key, what = pastime(HABIT_LIST, s, never)
    often, souvent = ("never", "") if never else any_of("frequency")
    verb = VERB[key]
    fr = french_clause(s, verb, "present", words(souvent, what[1]), "jamais" if never else "")
    return words(s.en, often, verb.en[is_third(s)], what[0]), fr


# ---- liking, having, wanting

@family(115)
def somebody_likes_something(s, neg, ask):
    liking = one(("like", "like", "love", "hate"))
    if (neg or ask) and liking != "like":
        return None
    what = any_of("liked too") if roll(0.3) else general(a_word("liked"))
    return clause(s, liking, "present", what, neg, ask)


@family(45, neg=0, ask=0.15)
def somebody_prefers(s, neg, ask):
    alike = WORD[one(("drinks", "foods", "pets", "fruits"))]
    first, second = (general(noun) for noun in RNG.sample(alike, 2))
    return clause(s, "prefer", "present", join(first, ("to", "à"), second), neg, ask)


@family(115)
def somebody_has_something(s, neg, ask):
    counted = roll(0.25)
    what = thing(a_word("counted"), "num", s, neg) if counted else thing(a_word("owned"), "a", s, neg, 0.6)
    return clause(s, "have", "present", both(what), neg, ask)


@family(100)
def somebody_wants_a_thing(s, neg, ask):
    verb = one(("want", "need", "would_like"))
    if neg and verb == "would_like":
        return None
    need = verb == "need"
    what = both(thing(a_word("wanted"), "a", s, neg and not need, 0.4))
    return clause(s, verb, "present", join(("", "besoin de" if need else ""), what), neg, ask)


@family(120)
def somebody_wants_some(s, neg, ask):
    verb, noun = one(("want", "need", "have", "would_like")), one(FOODS + ["money"])
    if neg and verb == "would_like":
        return None
    en, fr = both(thing(noun, "some", s, neg))
    fr = "besoin " + phrase(noun, "any").fr if verb == "need" else fr
    return clause(s, verb, "present", (en, fr), neg, ask)


@family(85, neg=0)
def somebody_has_a_measure(s, neg, ask):
    if roll(0.5):
        return clause(s, "have", "present", measure("amount"), neg, ask)
    tense, (verb, kind) = one(("past", "future")), one((("drink", "drink"), ("buy", "pack")))
    return clause(s, verb, tense, join(measure(kind), perhaps(0.5, when, tense)), neg, ask)


# ---- moving, living

@family(175)
def somebody_goes_somewhere(s, neg, ask):
    tense, (where, far) = one(("progressive", "past", "past", "future", "future")), to_place()
    tail = one((any_of("by far" if far else "by"), when(tense, far), when(tense, far), companion(s), NOTHING))
    return clause(s, "go", tense, join(where, tail), neg, ask)


@family(70, neg=0.1)
def somebody_wants_to_go_somewhere(s, neg, ask):
    where, far = to_place()
    tail = one((any_of("by far" if far else "by"), when("future", far), NOTHING))
    return wished(s, one([w for w in WISHES if w != "try"]), join(("go", "aller"), where, tail), neg, ask)


@family(190)
def somebody_moves(s, neg, ask):
    verb = one(("come_back", "come_home", "arrive", "leave", "stay", "go_out"))
    tense = one(("past", "past", "future"))
    where = from_place() if verb == "come_back" else any_of("stay") if verb == "stay" else \
        companion(s) if verb == "go_out" else late_or_early()
    time = perhaps(0.4, when, tense) if "clock" not in where[0] else NOTHING
    return clause(s, verb, tense, join(where, time), neg, ask)


@family(85)
def somebody_gets_up(s, neg, ask):
    verb, tense = one(("get_up", "go_to_bed")), one(("past", "future", "present"))
    time = any_of("daily") if tense == "present" else when(tense)
    return clause(s, verb, tense, join(late_or_early(), one((time, NOTHING))), neg, ask)


@family(90)
def somebody_lives_somewhere(s, neg, ask):
    if roll(0.3):
        return clause(s, "come", "present", country("from"), neg, ask)
    where = one((city(), country(), any_of("home")))
    return clause(s, one(("live", "live", "work")), "present", where, neg, ask)


@family(45, neg=0, ask=0)
def somebody_has_lived_there(s, neg, ask):
    """Up to now: English perfect, French present."""
    has, (number, nombre) = "has" if is_third(s) else "have", any_of("number")
    if roll(0.4):
        adj, unit = one(("sick", "tired", "at home", "on holiday")), NOUN[one(("day", "week"))]
        en, fr = words(s.en, has, "been", adj), copula(s, quality(s, adj))[1]
    else:
        verb, unit = VERB[one(("live", "work"))], NOUN[one(("month", "year"))]
        where = one((city(), country(), ("here", "ici")))
        en, fr = words(s.en, has, verb.en[2], where[0]), french_clause(s, verb, "present", where[1])
    return f"{en} for {number} {unit.en[1]}", f"{fr} depuis {nombre} {unit.fr[1]}"


# ---- being

@family(165)
def somebody_is(s, neg, ask):
    passing = roll(0.67)
    adj = a_word("mood" if passing else "kind of person")
    tense = "past" if passing and roll(0.35) else "present"
    time = perhaps(0.4 if passing else 0, any_of, "past" if tense == "past" else "now")
    return copula(s, join(quality(s, adj, degree(adj, 0 if neg else 0.4)), time), tense, neg, ask)


@family(200)
def something_is(_, neg, ask):
    adjs, nouns = one(SAYING_LIST)
    s, adj = this_thing(one(nouns)), one(adjs)
    tense = "past" if adj in WORD["passing"] and roll(0.3) else "present"
    return copula(s, quality(s, adj, degree(adj, 0 if neg else 0.4)), tense, neg, ask)


@family(85, neg=0.15, ask=0.15)
def something_is_more(_, neg, ask):
    adjs, nouns = one([row for row in SAYING_LIST if len(row[1]) > 1 and comparable(row[0])])
    first, second = RNG.sample(nouns, 2)
    s = this_thing(first)
    det = s.en.split()[0]
    other = phrase(second, det if det in POSSESSIVES else "the")
    return copula(s, join(compared(one(comparable(adjs)), s), both(other)), "present", neg, ask)


@family(75, neg=0.15, ask=0.15)
def somebody_is_more(s, neg, ask):
    pronoun = other_pronoun(s, ("me", "you", "us"))
    other = (pronoun, DISJUNCTIVE[pronoun]) if roll(0.6) else other_than(s)
    return copula(s, join(compared(a_word("kind of person"), s), other), "present", neg, ask)


@family(115)
def somebody_feels(s, neg, ask):
    """ "to be hungry", "avoir faim" """
    feeling, tense = any_of("feeling"), "past" if roll(0.2) else "present"
    if feeling[0] == "afraid":
        feeling = join(feeling, ("of", "de"), both(phrase(a_word("frightening"), one(("the", "this")))))
    elif feeling[0] not in ("right", "wrong"):
        very = perhaps(0 if neg else 0.4, lambda: ("very", "très"))
        feeling = join(very, feeling, perhaps(0.2 if tense == "present" else 0, any_of, "now"))
    return copula(s, feeling, tense, neg, ask, having=True)


@family(35, neg=0.15)
def somebody_is_years_old(s, neg, ask):
    age = join(any_of("number", "big number"), ("years old", "ans"))
    return copula(s, age, "present", neg, ask, having=True)


@family(35, neg=0)
def somebody_is_in_pain(s, neg, ask):
    return clause(s, "have", "present", join(any_of("pain"), perhaps(0.3, any_of, "now")), neg, ask)


@family(55, neg=0.15)
def somebody_has_a_profession(s, neg, ask):
    en, male, fem = one(PHRASE["job"]).split("/")
    if s.plural or en.split()[-1] in s.en:
        return None
    return copula(s, (en, fem if s.female else male), "present", neg, ask)


# ---- places and things

@family(115, neg=0.15, ask=0.25)
def something_lies_somewhere(_, neg, ask):
    in_town = roll(0.3)
    s = phrase(a_word("in town"), "the") if in_town else this_thing(a_word("lying"))
    where = spot_in_town() if in_town else spot()
    if s.en.split()[-1] in where[0]:
        return None
    return copula(s, where, "past" if not in_town and roll(0.2) else "present", neg, ask)


@family(60)
def somebody_is_somewhere(s, neg, ask):
    where = PLACE[one([p for p in PLACE if p not in ("office", "pool", "home")])] if roll(0.7) else city()
    tense = "past" if roll(0.3) else "present"
    time = perhaps(0.4, any_of, "past" if tense == "past" else "now")
    return copula(s, join(where, time), tense, neg, ask)


def existence(s, where, mode):
    verb = "are" if s.plural else "is"
    en = {"told": f"there {verb}", "negated": f"there {verb}n't", "asked": f"{verb} there"}[mode]
    fr = {"told": "il y a", "negated": "il n'y a pas", "asked": "est-ce qu'il y a"}[mode]
    if s.en.split()[-1] in where[0]:
        return None
    return pair(words(en, s.en, where[0]), words(fr, s.fr, where[1]), "?" if mode == "asked" else ".")


@free_family(125)
def there_is():
    mode, kind = one(("told", "told", "told", "asked", "negated")), one(("thing", "food", "building"))
    neg = mode == "negated"
    if kind == "thing":
        return existence(thing(a_word("lying"), "a", None, neg, 0.15), spot(), mode)
    if kind == "food":
        return existence(thing(one(FOODS), "some", None, neg), any_of("food spot"), mode)
    where = one((spot_in_town(), ("near here", "près d'ici"), ("in this street", "dans cette rue")))
    return existence(thing(a_word("in town"), "a", None, neg, 0.2), where, mode)


@free_family(25)
def there_are_several():
    noun, *where = one(PHRASE["group"]).split("/")
    return existence(phrase(noun, any_of("number")[0]), where, "told")


@free_family(40)
def what_a_thing():
    adj = one(EXCLAIMED)
    noun = one([n for n in NOUN_LIST if n.en[0] not in PLURAL_NOUNS and n.kind in adj.kinds])
    fr = words("quelle" if noun.female else "quel", french_noun_group(noun, adj, False))
    return pair("what " + phrase(noun, "a", adj).en, fr, "!")


# ---- orders and gifts

def imperative(verb, us):
    """First person plural or familiar; in the latter -er verbs and "ouvrir" lose their s."""
    form = verb.present[3 if us else 1]
    loses_s = not us and (verb.infinitive.endswith("er") or verb.infinitive == "ouvrir")
    return form[:-1] if loses_s else form


PLEASE = (", please", ", s'il te plaît")


@free_family(160)
def do_this():
    act, mode = action("I"), one(("let's", "do", "do", "don't"))
    us, neg, verb = mode == "let's", mode == "don't", VERB[act.verb]
    what = action_object(act, PRONOUNS["we" if us else "you"], neg)
    where = PLACE[one(act.places)] if act.places and roll(0.25) else NOTHING
    please = PLEASE if not us and roll(0.5) else NOTHING
    ne, pas = ("ne", "pas") if neg else ("", "")
    en = words("" if mode == "do" else mode, verb.en[0], what[0], where[0])
    return pair(en + please[0], words(ne, imperative(verb, us), pas, what[1], where[1]) + please[1])


@free_family(70)
def give_me():
    (give, donne), (me, moi) = one((any_of("give"), any_of("give"), ("show", "montre"))), any_of("receiver")
    if give == "give" and roll(0.5):
        what = phrase(one(FOODS), one(("some", "the")))
    else:
        noun = a_word("given" if give == "show" else "handed")
        what = thing(noun, one(("the", "this", "own")), PRONOUNS["you"], chance=0.15)
    please = PLEASE if roll(0.6) else NOTHING
    return pair(f"{give} {me} {what.en}{please[0]}", f"{donne}-{moi} {what.fr}{please[1]}")


@family(115, neg=0.15)
def somebody_gives_something(s, neg, ask):
    tense, verb = one(("past", "future")), one(("give", "give", "show", "send"))
    noun, det = a_word("sent" if verb == "send" else "given"), one(("a", "the", "this", "own"))
    what = join(both(thing(noun, det, s, neg, 0.1)), ("to", "à"), other_than(s))
    return clause(s, verb, tense, join(what, perhaps(0.25, when, tense)), neg, ask)


@family(60)
def somebody_speaks_to(s, neg, ask):
    tense, link = one(list(TENSE_OF.values())), one((("to", "à"), ("with", "avec")))
    return clause(s, "speak", tense, join(link, other_than(s), perhaps(0.4, when, tense)), neg, ask)


# ---- pronouns as objects

OBJECTS = {"me": "me", "you": "te", "him": "LE", "her": "LA", "us": "nous", "them": "LES"}


@family(60)
def somebody_sees_him(s, neg, ask):
    """ "je le vois": French pronouns stand before the verb."""
    obj, key = other_pronoun(s, OBJECTS), one(("see", "know", "understand", "look_for"))
    verb, tense = VERB[key], "progressive" if key == "look_for" else "present"
    moved = verb._replace(present=tuple(words(OBJECTS[obj], form) for form in verb.present))
    fr = french_clause(s, moved, tense, "", "pas" if neg else "", ask)
    return english_clause(s, verb, tense, obj, neg, ask), fr


@family(45)
def somebody_wants_to_see_him(s, neg, ask):
    obj, verb = other_pronoun(s, OBJECTS), VERB[one(("see", "look_for"))]
    what = words(verb.en[0], obj), words(OBJECTS[obj], verb.infinitive)
    if roll(0.3):
        fr = french_clause(s, VERB["go"], "present", what[1], "pas" if neg else "", ask)
        return english_clause(s, verb, "future", obj, neg, ask), fr
    return wished(s, one(("want", "can", "must", "would_like")), what, neg, ask)


# ---- two clauses

def a_claim():
    """Anything that one may think, say or know."""
    kind, s = RNG.random(), somebody()
    if kind < 0.25:
        return any_of("is")
    if kind < 0.45:
        adjs, nouns = one(SAYING_LIST)
        s, adj = phrase(one(nouns), "the"), one(adjs)
        return copula(s, quality(s, adj, degree(adj)))
    if kind < 0.65:
        return copula(s, quality(s, a_word(one(("mood", "kind of person")))))
    return one((copula(s, any_of("feeling"), having=True),
                clause(s, "like", "present", general(a_word("liked"))), clause(s, "live", "present", city()),
                clause(s, "go", "future", to_place()[0]), clause(s, "leave", "past", when("past"))))


@family(145, neg=0, ask=0)
def somebody_thinks_that(s, neg, ask):
    return clause(s, one(("think", "know_that", "say")), "present", join(("that", "que"), a_claim()))


def staying_in(s):
    """What one does when one is tired or the weather is bad."""
    choice = one(("stay", "work", "can", "want", "go"))
    if choice == "stay":
        return clause(s, "stay", "progressive", any_of("stay"))
    if choice == "work":
        return clause(s, "work", "progressive", neg=True)
    if choice == "go":
        return clause(s, "want", "present", join(("to go", "aller"), to_place()[0]), neg=True)
    return clause(s, choice, "present", any_of("can't" if choice == "can" else "doesn't want"), neg=True)


def stayed_in(s):
    return one((clause(s, "stay", "past", any_of("stay")), clause(s, "come_home", "past", late_or_early()),
                clause(s, "go_out", "past", neg=True), clause(s, "work", "past", neg=True)))


@family(130, neg=0, ask=0)
def because(s, neg, ask):
    past, he, mood = roll(0.3), PRONOUN_OF[s.own], one(("tired", "sick", "busy", "sad", "worried"))
    tense = "past" if past else "present"
    weather = any_of("was bad") if past else any_of("is", "late")
    why = one((weather, weather, copula(he, quality(he, mood, degree(mood)), tense),
               copula(he, ("cold", "froid"), tense, having=True)))
    return join(stayed_in(s) if past else staying_in(s), ("because", "parce que"), why)


def reasons(mood, he):
    lost = clause(he, "lose", "past", both(thing(a_word("lost"), "own", he, chance=0)))
    if mood == "late":
        return (lost, clause(he, "get_up", "past", ("late", "tard")),
                clause(he, "wait_for", "past", ("the bus", "le bus")))
    if mood in ("sad", "worried"):
        alone = copula(he, quality(he, one(("alone", "sick"))))
        return lost, alone, any_of("late") if mood == "worried" else copula(he, quality(he, "tired"))
    new = both(thing(one(("car", "bike", "house", "dog", "cat")), "a", chance=0.5))
    return (("the weather is nice", "il fait beau"), copula(he, quality(he, "on holiday")),
            clause(he, "have", "present", new), clause(he, "go", "future", to_place()[0]))


@family(75, neg=0, ask=0)
def glad_or_sad_because(s, neg, ask):
    mood = one(("happy", "happy", "sad", "late", "worried"))
    why = one(reasons(mood, PRONOUN_OF[s.own]))
    return join(copula(s, quality(s, mood)), ("because", "parce que"), why)


@family(75, neg=0, ask=0)
def if_or_when(s, neg, ask):
    he, link = PRONOUN_OF[s.own], one((("if", "si"), ("when", "quand")))
    state = copula(he, quality(he, one(("tired", "sick", "sad", "alone"))))
    condition = one((any_of("when it is"), state))
    verb, what = one(parse_pastimes(COMFORTS))
    main = clause(s, verb, "present", slashed(what))
    if roll(0.5):
        return join(main, link, condition)
    return tuple(f"{link[i]} {condition[i]}, {main[i]}" for i in (0, 1))


@free_family(45)
def the_one_that_is_bought():
    adjs, nouns = one([row for row in SAYING_LIST if any(noun in WORD["owned"] for noun in row[1])])
    s, buyer = phrase(one([noun for noun in nouns if noun in WORD["owned"]]), "the"), somebody()
    bought, what = VERB[one(("buy", "find", "choose"))], quality(s, one(adjs))
    en = words(s.en, "that", buyer.en, bought.en[2], be(s), what[0])
    bought = bought._replace(participle=agreed(bought.participle, s))       # "la valise qu'il a achetée"
    return pair(en, words(s.fr, "que", french_clause(buyer, bought, "past", ""), ETRE[s.person], what[1]))


# ---- questions with a question word

@free_family(75)
def when_or_why():
    tense = one(("past", "future"))
    kind, s = one((("when", "quand"), ("why", "pourquoi"))), somebody(True)
    act = action("D" if tense == "past" else "F")
    if act.verb in WORD["not asked"]:
        return None
    what = clause(s, act.verb, tense, action_object(act, s), ask=True)
    if kind[0] == "when" and roll(0.6):
        what = clause(s, one(("arrive", "leave", "come_back", "come_home")), tense, ask=True)
    return pair(*join(kind, what), "?")


@free_family(40)
def where_did_you():
    verb, s = one(("buy", "find", "lose", "live", "work", "sleep")), somebody(True)
    what = both(thing(a_word("missed"), "this" if verb == "buy" else "own", s, chance=0.1)) \
        if verb in ("buy", "find", "lose") else NOTHING
    tense = "present" if verb in ("live", "work") else "past"
    return pair(*join(("where", "où"), clause(s, verb, tense, what, ask=True)), "?")


@free_family(70)
def what_did_you_do():
    verb, letter = one(QUESTION_LIST)
    en, fr = clause(somebody(True), verb, TENSE_OF[letter], perhaps(0.4, when, TENSE_OF[letter]), ask=True)
    return pair("what " + en, "qu'" + fr, "?")


@free_family(55)
def who_did_it():
    who, letter = Subject("who", "qui", 2, False, "his"), one(("D", "F"))
    act, tense = action(letter), TENSE_OF[letter]
    what = action_object(act, who)
    if "his" in what[0].split() or act.verb == "sleep":
        return None
    return pair(*clause(who, act.verb, tense, join(what, perhaps(0.3, when, tense))), "?")


@free_family(35)
def how_many():
    noun = NOUN[a_word("counted")]
    en, fr = clause(somebody(True), "have", "present", ask=True)
    return pair(f"how many {noun.en[1]} {en}", f"combien de {noun.fr[1]} {fr}", "?")


@free_family(35)
def which_one():
    noun = NOUN[a_word("to choose")]
    verb, tense = one((("want", "present"), ("prefer", "present"), ("choose", "past")))
    verb = VERB[verb]
    if noun.female:                                                         # "quelle robe ... choisie"
        verb = verb._replace(participle=verb.participle + "e")
    en, fr = clause(somebody(True), verb, tense, ask=True)
    return pair(f"which {noun.en[0]} {en}", words("quelle" if noun.female else "quel", noun.fr[0], fr), "?")


# ---- sentences with slots

SLOTS = {   # beside the named lists of phrases
    "where": lambda: one((city(), country(), ("here", "ici"))), "in city": city,
    "birthday": lambda: both(phrase("birthday", one(("my", "your", "his", "her")))),
    "shop": lambda: the(WORD["shop"]), "ride": lambda: the(("train", "bus", "plane")),
    "town": lambda: the(WORD["in town"] + ["park", "beach", "airport"]),
    "a town": lambda: both(phrase(a_word("in town"), "a")),
    "lying": lambda: both(this_thing(a_word("lying"))),
    "relative": lambda: both(relative("your", 0)), "relatives": lambda: both(relative("your", 1)),
    "mine": lambda: both(phrase(a_word(one(("owned", "one's own"))), one(POSSESSIVES))),
    "ours": lambda: both(phrase(a_word("ours"), one(POSSESSIVES), plural=True)),
    "ware": lambda: both(phrase(a_word("for sale"), one(("the", "this")))),
    "coloured": lambda: both(this_thing(a_word("coloured"))),
    "some": lambda: both(phrase(one(FOODS), "some")), "liked": lambda: general(a_word("liked")),
    "pack": lambda: measure("pack"), "drink": lambda: measure("drink"), "to": lambda: to_place()[0],
    "weather": lambda: any_of("is", "is not"), "price": lambda: any_of("number", "big number"),
}


def fill(mark, en, fr):
    """Puts the same choice into the same slot of both sides."""
    for slot in re.findall(r"{(.*?)}", en):
        chosen = SLOTS[slot]() if slot in SLOTS else any_of(slot)
        en, fr = en.replace(f"{{{slot}}}", chosen[0], 1), fr.replace(f"{{{slot}}}", chosen[1], 1)
    return pair(en, fr, mark)


def parse_template(line):
    share, mark, text = line.split(" ", 2)
    en, _, fr = text.partition(" = ")
    return int(share), lambda: fill(mark, en, fr or en)


FAMILIES += map(parse_template, lines(TEMPLATES))

# ---------------------------------------------------------------- choosing what goes into the file

TRY = """
I want to buy a new bike.
She isn't going to come back tomorrow.
Do you like chocolate?
Where are my keys?
My brother is taller than me.
We went to the beach on Sunday.
There is a cat under the table.
Open the window, please.
I am staying at home because I am sick.
It is raining in Paris today.
Your sister often speaks French.
Give me some water, please.
"""
TRY_LIST = lines(TRY)


def tokens(text):
    """As word-level training sees a sentence: lower case, punctuation apart, apostrophes inside words."""
    return re.sub(r"([.,!?])", r" \1 ", text.lower()).split()


def sided_tokens(line):
    """The tokens of both sides, each once."""
    return list(dict.fromkeys((side, word) for side in (0, 1) for word in tokens(line[side])))


CHOOSER.set_units(sided_tokens)


def hand_written():
    found = [tuple(line.split(" = ")) for line in lines(PHRASES)]
    assert len(dict(found)) == len(found), [en for en, n in Counter(en for en, _ in found).items() if n > 1]
    return dict(found)


def acceptable(made):
    return made is not None and made[0] not in TRY_LIST and len(made[0].split()) <= LONGEST


# ---------------------------------------------------------------- checks on the finished lines

ENDINGS = {"tu": ("s", "x"), "nous": ("ons", "sommes"), "ils": ("nt",), "vous": ("ez", "êtes")}
CLITICS = r"(?:ne |n'|me |m'|te |t'|se |s'|nous |vous |le |la |les |l')*"


def check_form(en, fr):
    """Characters, spaces, capitals and final marks."""
    assert re.fullmatch(r"[A-Z][A-Za-z', -]+[.?!]", en), en
    assert re.fullmatch(rf"[A-ZÀÉ](?:{LETTER}|[', -])+(?:\.| [?!])", fr), fr
    assert en[-1] == fr[-1], (en, fr)
    for text in (en, fr):
        assert "  " not in text and " ," not in text and " '" not in text and "' " not in text, text
    assert 2 <= len(en.split()) <= LONGEST, en


def check_english(en):
    assert not re.search(r"\ba [aeiou]", en.lower()) and not re.search(r"\ban [^aeiou]", en.lower()), en
    assert not re.search(r"\b(\w+) \1\b", en.lower()), en


def check_french(fr):
    text = fr.lower()
    for short in re.finditer(rf"\b(?:je|me|te|se|le|la|de|ne|que|ce|ma|ta|sa) ({LETTER}+)", text):
        assert not starts_with_vowel(short.group(1)), fr
    assert not re.search(r"\b(de|à) (le|les)\b|\bsi ils?\b", text), fr
    assert not re.search(r"\b(un|le|ce|[mts]on|quel) (beau|nouveau|vieux) [aeiouhéœ]", text), fr
    if re.search(r"\b(pas|jamais|rien)\b", text):
        assert re.search(r"\b(ne |n')|^(pourquoi pas|de rien)", text), fr
    nous_nous = re.sub(r"\b(nous) nous\b", r"\1", text)
    subjects = rf"(?:^|que |qu'|quand |s'|si )(tu|nous|ils|vous) {CLITICS}({LETTER}+)"
    for who, verb in re.findall(subjects, nous_nous):
        assert verb.endswith(ENDINGS[who]), fr


def check(phrases, generated):
    pairs = phrases | generated
    assert len(pairs) == len(phrases) + len(generated) >= 3000
    for en, fr in pairs.items():
        check_form(en, fr)
        check_english(en)
        check_french(fr)
    counts = CHOOSER.frequencies(pairs)
    assert all(counts[token] >= LEAST for line in generated.items() for token in sided_tokens(line))
    assert len(TRY_LIST) == 12
    for en in TRY_LIST:
        assert en not in pairs and all(counts[0, word] >= LEAST for word in tokens(en)), en


def report(pairs):
    words_of = [{word for line in pairs.items() for word in tokens(line[side])} for side in (0, 1)]
    return f"{len(pairs)} pairs, {len(words_of[0])} English and {len(words_of[1])} French words"


def main():
    parser = argparse.ArgumentParser(description="Writes the English-French pairs that come with rapt.")
    parser.add_argument("-o", metavar="FILE", type=Path, help="write the pairs to FILE, and nothing else")
    target = parser.parse_args().o
    phrases = hand_written()
    generated = CHOOSER.generate(phrases, FAMILIES, acceptable)
    check(phrases, generated)
    rows = [f"{en}\t{fr}\n" for en, fr in (phrases | generated).items()]
    assert all(row.count("\t") == 1 for row in rows) and len(set(rows)) == len(rows)
    RNG.shuffle(rows)
    (target or DATA / "en-fr.tsv").write_text("".join(rows), encoding="utf-8", newline="\n")
    if not target:
        (DATA / "try.en").write_text("\n".join(TRY_LIST) + "\n", encoding="utf-8", newline="\n")
    print(report(phrases | generated))


if __name__ == "__main__":
    main()
