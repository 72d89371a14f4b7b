#!/usr/bin/env python3
"""Write data/en-fr.tsv, the English-French pairs that come with rapt, and data/try.en.

For whoever wants to train a first translation model within a minute, or to change what it is trained on.
Not a translator: a small grammar of both languages, a lexicon, and some hand-written everyday sentences.

    python3 tools/make_pairs.py            writes data/en-fr.tsv and data/try.en
    python3 tools/make_pairs.py -o FILE    writes the pairs to FILE only

Conventions that keep one English sentence to one French one: "you" is always "tu" ("you all" is "vous"), "they"
is always "ils", I, you and we are masculine, "love" is "aimer" for people and "adorer" for things, yes/no
questions use "est-ce que", and "please" is "s'il te plaît".
"""
import argparse
import random
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

SEED = 20
LEAST = 6           # every word of a generated sentence occurs at least this often on its side
DATA = Path(__file__).resolve().parent.parent / "data"
RNG = random.Random(SEED)

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
Yes, of course! = Oui, bien sûr !
Of course, my friend! = Bien sûr, mon ami !
I am sorry. = Je suis désolé.
I am very sorry. = Je suis vraiment désolé.
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
My name is Paul. = Je m'appelle Paul.
My name is Julie. = Je m'appelle Julie.
His name is Marc. = Il s'appelle Marc.
Her name is Claire. = Elle s'appelle Claire.
My dog's name is Max. = Mon chien s'appelle Max.
Our cat's name is Max. = Notre chat s'appelle Max.
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
How old is he? = Quel âge a-t-il ?
How old is she? = Quel âge a-t-elle ?
How old is your brother? = Quel âge a ton frère ?
How old is your sister? = Quel âge a ta sœur ?
How old is your son? = Quel âge a ton fils ?
What time is it? = Quelle heure est-il ?
What time is it now? = Quelle heure est-il maintenant ?
What day is it today? = Quel jour sommes-nous aujourd'hui ?
It is late. = Il est tard.
It is very late. = Il est très tard.
It is too late. = Il est trop tard.
It is already late. = Il est déjà tard.
It is still early. = Il est encore tôt.
It is too early. = Il est trop tôt.
It isn't too late. = Il n'est pas trop tard.
Who is it? = Qui est-ce ?
Who is this man? = Qui est cet homme ?
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
Can you help us, please? = Est-ce que tu peux nous aider, s'il te plaît ?
Can I come with you? = Est-ce que je peux venir avec toi ?
Can I come in? = Est-ce que je peux entrer ?
Can I open the window? = Est-ce que je peux ouvrir la fenêtre ?
Can I close the door? = Est-ce que je peux fermer la porte ?
Can I use your phone? = Est-ce que je peux utiliser ton téléphone ?
Can I use your computer? = Est-ce que je peux utiliser ton ordinateur ?
Can I have a glass of water, please? = Est-ce que je peux avoir un verre d'eau, s'il te plaît ?
Can I have a cup of tea, please? = Est-ce que je peux avoir une tasse de thé, s'il te plaît ?
Can I have some bread, please? = Est-ce que je peux avoir du pain, s'il te plaît ?
Do you need help? = Est-ce que tu as besoin d'aide ?
I need your help. = J'ai besoin de ton aide.
We need your help. = Nous avons besoin de ton aide.
I don't need your help. = Je n'ai pas besoin de ton aide.
I need you. = J'ai besoin de toi.
She needs him. = Elle a besoin de lui.
Help me, please! = Aide-moi, s'il te plaît !
Help your brother, please. = Aide ton frère, s'il te plaît.
Help your grandmother in the kitchen. = Aide ta grand-mère dans la cuisine.
Wait for me! = Attends-moi !
Wait for us, please. = Attends-nous, s'il te plaît.
Wait for me here, please. = Attends-moi ici, s'il te plaît.
Call me tomorrow. = Appelle-moi demain.
Call me tonight, please. = Appelle-moi ce soir, s'il te plaît.
Call me when you are ready. = Appelle-moi quand tu es prêt.
Listen to me, please. = Écoute-moi, s'il te plaît.
Listen to your mother. = Écoute ta mère.
Look at this bird! = Regarde cet oiseau !
Look at this photo. = Regarde cette photo.
Look at me! = Regarde-moi !
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
Don't forget your keys. = N'oublie pas tes clés.
Don't forget your umbrella. = N'oublie pas ton parapluie.
Don't forget to close the door. = N'oublie pas de fermer la porte.
Don't forget to call your mother. = N'oublie pas d'appeler ta mère.
Speak slowly, please. = Parle lentement, s'il te plaît.
Speak more slowly, please. = Parle plus lentement, s'il te plaît.
He speaks too slowly. = Il parle trop lentement.
The bus is very slow. = Le bus est très lent.
The train is very fast. = Le train est très rapide.
Tell me the truth. = Dis-moi la vérité.
I told you the truth. = Je t'ai dit la vérité.
You must tell the truth. = Tu dois dire la vérité.
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
Why are you laughing? = Pourquoi est-ce que tu ris ?
Why is she crying? = Pourquoi est-ce qu'elle pleure ?
The baby is crying. = Le bébé pleure.
The baby is sleeping. = Le bébé dort.
The baby is hungry. = Le bébé a faim.
Don't wake the baby. = Ne réveille pas le bébé.
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
A coffee and a glass of water, please. = Un café et un verre d'eau, s'il te plaît.
Two coffees, please. = Deux cafés, s'il te plaît.
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
Are you all here? = Est-ce que vous êtes tous ici ?
You all are my friends. = Vous êtes tous mes amis.
I love you all. = Je vous aime tous.
Thank you all for your help. = Merci à vous tous pour votre aide.
I feel well today. = Je me sens bien aujourd'hui.
She feels alone. = Elle se sent seule.
He doesn't feel well. = Il ne se sent pas bien.
I don't feel well. = Je ne me sens pas bien.
She sings very well. = Elle chante très bien.
He dances very well. = Il danse très bien.
You speak French very well. = Tu parles très bien français.
He swims very well. = Il nage très bien.
I slept well. = J'ai bien dormi.
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
# A noun is "english french gender" or, with irregular plurals, "english/plural french/pluriel gender".

NOUNS = {
    "vehicle": "car voiture f, bike vélo m, boat bateau m",
    "transport": "bus bus m, train train m, plane avion m",
    "device": "phone téléphone m, computer ordinateur m",
    "furniture": "table table f, chair chaise f, bed lit m, lamp lampe f",
    "luggage": "bag sac m, suitcase valise f, box boîte f",
    "dish": "cup tasse f, glass verre m, plate assiette f, bottle bouteille f",
    "small": "key clé f, umbrella parapluie m, watch montre f, gift cadeau m, ball ballon m, pen stylo m",
    "paper": "book livre m, newspaper journal/journaux m, letter lettre f, photo photo f, ticket billet m",
    "work": "film film m, song chanson f, story histoire f",
    "clothes": "shirt chemise f, coat manteau m, hat chapeau m, dress robe f, jacket veste f, shoe chaussure f",
    "building": "house maison f",
    "room": "bedroom chambre f, kitchen cuisine f, garden jardin m",
    "opening": "door porte f, window fenêtre f",
    "public": "school école f, library bibliothèque f, museum musée m, bank banque f, restaurant restaurant m, "
              "hotel hôtel m, shop magasin m, bakery boulangerie f, pharmacy pharmacie f, cinema cinéma m",
    "place": "station gare f, market marché m, park parc m, beach plage f, hospital hôpital/hôpitaux m, "
             "church église f, airport aéroport m, village village m, street rue f, bridge pont m",
    "animal": "dog chien m, cat chat m, bird oiseau m, horse cheval/chevaux m",
    "plant": "flower fleur f, tree arbre m",
    "fruit": "apple pomme f, orange orange f, banana banane f, tomato tomate f, egg œuf m",
    "snack": "sandwich sandwich m, cake gâteau m",
    "food": "bread pain m, cheese fromage m, meat viande f, fish poisson m, rice riz m, soup soupe f, "
            "chocolate chocolat m, salad salade f, sugar sucre m, butter beurre m",
    "drink": "water eau f, milk lait m, coffee café m, tea thé m, wine vin m, juice jus m",
    "study": "lesson leçon f, question question f, exercise exercice m, word mot m",
    "event": "party fête f, job travail/travaux m",
    "kin": "brother frère m, sister sœur f, father père m, mother mère f, friend ami m, uncle oncle m, "
           "aunt tante f, son fils m, daughter fille f, cousin cousin m, neighbour voisin m, "
           "grandfather grand-père/grands-pères m, grandmother grand-mère/grands-mères f",
    "group": "parents parents m, children enfants m, friends amis m, neighbours voisins m",
    "person": "doctor médecin m, teacher professeur m, man/men homme m, woman/women femme f, boy garçon m, "
              "girl fille f, child/children enfant m",
}

# An adjective is "english: forms; place; classes it may go with as an attribute".  "=" marks an unchanging form.
ADJECTIVES = """
big: grand; pre; vehicle furniture luggage building room animal dish plant public place
small: petit; pre; vehicle furniture luggage building room animal dish fruit public place
beautiful: beau belle beaux belles bel; pre; vehicle building room place animal plant clothes work
old: vieux vieille vieux vieilles vieil; pre; vehicle furniture building clothes public luggage
new: nouveau nouvelle nouveaux nouvelles nouvel; pre; vehicle device clothes building luggage paper event
good: bon bonne; pre; work paper snack public
red: rouge; post; vehicle clothes dish small fruit plant luggage
blue: bleu; post; vehicle clothes dish luggage
green: vert; post; vehicle clothes dish fruit opening
black: noir; post; vehicle clothes animal luggage
white: blanc blanche; post; vehicle clothes animal building opening plant
expensive: cher chère; post; vehicle device clothes
interesting: intéressant; post; paper work
difficult: difficile; post; study
easy: facile; post; study
important: important; post; paper study
long: long longue; pre; paper work
delicious: délicieux délicieuse délicieux délicieuses; post; snack
comfortable: confortable; post; none
empty: vide; post; none
full: plein; post; none
open: ouvert; post; none
closed: fermé; post; none
clean: propre; post; none
dirty: sale; post; none
heavy: lourd; post; none
hot: chaud; post; none
cold: froid; post; none
quiet: calme; post; none
tired: fatigué; post; none
sick: malade; post; none
happy: heureux heureuse heureux heureuses; post; none
sad: triste; post; none
ready: prêt; post; none
busy: occupé; post; none
alone: seul; post; none
worried: inquiet inquiète; post; none
kind: gentil gentille; post; none
tall: grand; post; none
young: jeune; post; none
strong: fort; post; none
funny: drôle; post; none
rich: riche; post; none
intelligent: intelligent; post; none
late: =en retard; post; none
angry: =en colère; post; none
on holiday: =en vacances; post; none
at home: =à la maison; post; none
"""

# What can be said of what: adjectives after "is", then the nouns.
SAYINGS = """
big small beautiful old new expensive clean dirty red blue green white black: car bike boat
big small beautiful quiet old: village park beach street garden
big small beautiful old modern: house hotel museum library
big small clean dirty comfortable: bedroom kitchen
open closed big far: bank museum library shop bakery pharmacy cinema restaurant school
open closed clean dirty: door window
comfortable old new big small: chair bed
empty full small heavy: bag suitcase box bottle
empty full clean dirty hot: cup glass plate
hot cold good delicious ready: soup coffee tea
good delicious cold expensive: bread cheese meat fish wine cake salad chocolate milk
clean dirty new old beautiful expensive black white red blue green: shirt coat hat dress jacket
interesting long good difficult easy: book story film letter lesson
easy difficult important interesting: exercise question word job
old new expensive beautiful: phone computer watch umbrella lamp
big small beautiful old black white sad: dog cat bird horse
good red green big expensive: apple orange banana tomato
"""
EXTRA_ADJECTIVES = """
modern: moderne; post; none
far: =loin; post; none
"""

MOODS = "tired sick happy sad ready busy alone worried late angry|on holiday|at home".replace("|", " |")
TRAITS = "kind tall young strong funny rich intelligent happy tired busy"

COMPARATIVES = {
    "big": "bigger", "small": "smaller", "old": "older", "new": "newer", "long": "longer", "quiet": "quieter",
    "tall": "taller", "young": "younger", "strong": "stronger", "rich": "richer", "heavy": "heavier",
    "clean": "cleaner", "kind": "kinder", "funny": "funnier", "easy": "easier",
}

# Verbs: "base past [= -ing form]: infinitive [je tu il nous ils participle]"; regular -er verbs need no forms.
# "+" before the infinitive: conjugated with être.
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
know_that knew_that: savoir sais sais sait savons savent su
hope hoped: espérer espère espères espère espérons espèrent espéré
try tried: essayer essaie essaies essaie essayons essaient essayé
start started: commencer
decide decided: décider
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
wake_up woke_up: se réveiller
rest rested: se reposer
go_for_a_walk went_for_a_walk: se promener promène promènes promène promenons promènent promené
"""
MODALS = """
can can: pouvoir peux peux peut pouvons peuvent pu
must must: devoir dois dois doit devons doivent dû
would_like would_like: vouloir voudrais voudrais voudrait voudrions voudraient voulu
"""
