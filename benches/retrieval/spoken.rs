//! Long conversations in plain English, put together from episodes: any number, the same every
//! time. Questions use other words than their answers, ask for what was answered to a question, for
//! what was said in a month, or for something of which several episodes tell.
//!
//! The worlds share their episodes and differ in what they are about, so a question about one world
//! has no answer in another although most of its words occur there. What other worlds are about is
//! mentioned in passing, so even its names occur.

use super::chance::Chance;
use super::set::{Asked, Session, Set, Talk, Turn};

const WORLDS: usize = 4;
const SESSIONS: usize = 48;
const PAIRS: [[&str; 2]; WORLDS] =
    [["Hannah", "Oscar"], ["Selma", "Viktor"], ["Fiona", "Rashid"], ["Imani", "Leopold"]];

/// Lines of an episode by the two speakers in turn, and questions with the lines that answer them.
/// `{N}` is the first speaker, `{O}` the other.
struct Episode {
    lines: &'static [&'static str],
    asked: &'static [(&'static str, &'static str, &'static [usize])],
    /// Words for the subject, a row for each time it is told.
    about: &'static [[&'static str; 3]],
}

const EPISODES: &[Episode] = &[
    Episode {
        lines: &[
            "I have finally signed up for {x} lessons at the {y}.",
            "Good for you! How often do you go?",
            "Every {z} evening, and the teacher is patient with beginners.",
            "I could never do that, my back would complain.",
        ],
        asked: &[
            ("plain", "Where does {N} take {x} lessons?", &[0]),
            ("other words", "On which day of the week does {N} practise {x}?", &[2]),
            ("neighbour", "What did {O} think of taking up {x}?", &[3]),
        ],
        about: &[
            ["pottery", "old mill", "Tuesday"],
            ["fencing", "town hall", "Monday"],
            ["accordion", "parish house", "Thursday"],
            ["judo", "harbour club", "Friday"],
            ["archery", "castle meadow", "Wednesday"],
            ["tango", "railway hotel", "Sunday"],
            ["carpentry", "trade school", "Tuesday"],
            ["calligraphy", "museum annex", "Monday"],
            ["sailing", "reservoir", "Saturday"],
            ["yoga", "community centre", "Wednesday"],
            ["chess", "corner café", "Thursday"],
            ["cello", "music school", "Friday"],
        ],
    },
    Episode {
        lines: &[
            "We are back from {x}! The {y} was the best part.",
            "I am jealous. What was the weather like?",
            "It rained for {z} days, but we did not mind.",
            "Send me pictures when you have unpacked.",
        ],
        asked: &[
            ("plain", "Where did {N} see the {y}?", &[0]),
            ("other words", "How long was it wet during the journey to {x}?", &[2]),
            ("several words", "What did {N} enjoy most about the holiday in {x}?", &[0]),
        ],
        about: &[
            ["Lisbon", "tram museum", "two"],
            ["Bergen", "fish market", "six"],
            ["Krakow", "salt mine", "three"],
            ["Palermo", "puppet theatre", "four"],
            ["Tallinn", "rope walk", "five"],
            ["Porto", "book shop", "two"],
            ["Ljubljana", "dragon bridge", "three"],
            ["Galway", "oyster bar", "seven"],
            ["Seville", "orange garden", "one"],
            ["Zagreb", "funicular", "four"],
            ["Ghent", "belfry", "five"],
            ["Riga", "zeppelin hall", "two"],
        ],
    },
    Episode {
        lines: &[
            "My {x} has been ill since the weekend.",
            "Oh no, what is wrong?",
            "The doctors say it is {y}. They prescribed {z}.",
            "Give them a hug from me.",
        ],
        asked: &[
            ("plain", "What did the doctors prescribe for the {x} of {N}?", &[2]),
            ("other words", "Which disease does {N}'s {x} have?", &[2]),
            ("beside", "What is the matter with {N}'s {x}?", &[0, 2]),
        ],
        about: &[
            ["uncle", "pneumonia", "penicillin"],
            ["grandmother", "shingles", "a cream"],
            ["nephew", "whooping cough", "bed rest"],
            ["aunt", "tonsillitis", "syrup"],
            ["godfather", "gout", "cherry juice"],
            ["stepsister", "migraine", "dark glasses"],
            ["cousin", "measles", "vitamin drops"],
            ["landlady", "bronchitis", "inhalations"],
            ["niece", "chickenpox", "calamine"],
            ["father-in-law", "kidney stones", "litres of tea"],
            ["goddaughter", "scarlet fever", "antibiotics"],
            ["flatmate", "sciatica", "swimming"],
        ],
    },
    Episode {
        lines: &[
            "Guess what, we adopted a {x}!",
            "Really? What is it called?",
            "{y}. It sleeps in the {z} and snores.",
            "I have to meet it soon.",
        ],
        asked: &[
            ("other words", "What is the name of the {x} that {N} took in?", &[2]),
            ("plain", "Where does {y} sleep?", &[2]),
            ("general", "What pet does {N} have?", &[0]),
        ],
        about: &[
            ["greyhound", "Pickle", "bathtub"],
            ["parrot", "Admiral", "hallway"],
            ["tortoise", "Speedy", "laundry basket"],
            ["dachshund", "Noodle", "armchair"],
            ["rabbit", "Clover", "shoe cupboard"],
            ["ferret", "Bandit", "sock drawer"],
            ["poodle", "Duchess", "guest bed"],
            ["hedgehog", "Bramble", "tool shed"],
            ["canary", "Caruso", "kitchen"],
            ["spaniel", "Biscuit", "car boot"],
            ["goat", "Matilda", "greenhouse"],
            ["kitten", "Pepper", "wardrobe"],
        ],
    },
    Episode {
        lines: &[
            "I handed in my notice at the {x} today.",
            "Brave! And what comes next?",
            "I start as a {y} in {z}. The pay is worse, but I will see daylight.",
            "I think you will be much happier.",
        ],
        asked: &[
            ("general", "Which job did {N} quit?", &[0]),
            ("plain", "When does {N} begin to work as a {y}?", &[2]),
            ("neighbour", "Did {O} support the decision of {N} to leave the {x}?", &[3]),
        ],
        about: &[
            ["insurance office", "gardener", "April"],
            ["call centre", "baker", "January"],
            ["brewery", "tram driver", "October"],
            ["law firm", "shepherd", "March"],
            ["bank", "bookbinder", "September"],
            ["ministry", "ferry pilot", "June"],
            ["warehouse", "midwife", "February"],
            ["casino", "beekeeper", "May"],
            ["laboratory", "stonemason", "August"],
            ["airport", "librarian", "November"],
            ["slaughterhouse", "florist", "July"],
            ["newspaper", "locksmith", "December"],
        ],
    },
    Episode {
        lines: &[
            "The {x} broke down again this morning.",
            "Again? What will it cost this time?",
            "{y} euros, says the man from {z}. I nearly cried.",
            "You should get a second opinion.",
        ],
        asked: &[
            ("other words", "How expensive is the repair of the {x}?", &[2]),
            ("plain", "Who looked at the broken {x} of {N}?", &[2]),
            ("neighbour", "What advice did {O} give about the {x}?", &[3]),
        ],
        about: &[
            ["boiler", "480", "Brandt & Sons"],
            ["dishwasher", "210", "Quickfix"],
            ["van", "1350", "the Esso garage"],
            ["lift", "2900", "Schindler"],
            ["freezer", "175", "Polar Service"],
            ["printer", "95", "the copy shop"],
            ["motorbike", "620", "Wheels United"],
            ["washing machine", "260", "Aqua Repairs"],
            ["heat pump", "1800", "Nordic Heating"],
            ["oven", "330", "Madame Roche"],
            ["sewing machine", "140", "the old tailor"],
            ["lawn mower", "115", "Green Tools"],
        ],
    },
    Episode {
        lines: &[
            "My sister is getting married in {x}.",
            "Congratulations! Is it a big party?",
            "About {y} guests, in a {z}. I have to give a speech.",
            "You will do fine, you always do.",
        ],
        asked: &[
            ("other words", "How many people are invited to the wedding in {x}?", &[2]),
            ("plain", "In what kind of place is the wedding in {x}?", &[2]),
            ("beside", "What does {N} have to do at the wedding in {x}?", &[2]),
        ],
        about: &[
            ["Salzburg", "eighty", "barn"],
            ["Dundee", "forty", "lighthouse"],
            ["Toledo", "two hundred", "vineyard"],
            ["Malmö", "sixty", "boat house"],
            ["Verona", "thirty", "monastery"],
            ["Antwerp", "ninety", "brewery hall"],
            ["Gdansk", "fifty", "shipyard"],
            ["Basel", "twenty", "garden"],
            ["Cork", "a hundred", "distillery"],
            ["Graz", "seventy", "quarry"],
            ["Nantes", "a dozen", "glasshouse"],
            ["Aarhus", "thirty-five", "windmill"],
        ],
    },
    Episode {
        lines: &[
            "Do you remember the recipe for {x}?",
            "Of course. The secret is {y}.",
            "I always thought it was butter.",
            "No, and it has to rest for {z} before you bake it.",
        ],
        asked: &[
            ("other words", "Which special ingredient belongs into {x}?", &[1]),
            ("plain", "How long must {x} rest before baking?", &[3]),
            ("several words", "What did {N} believe about {x}?", &[2]),
        ],
        about: &[
            ["plum cake", "buttermilk", "an hour"],
            ["rye bread", "coriander seed", "a night"],
            ["shortbread", "rice flour", "ten minutes"],
            ["focaccia", "potato water", "a whole day"],
            ["gingerbread", "potash", "two weeks"],
            ["pancakes", "sparkling water", "half an hour"],
            ["quiche", "nutmeg", "twenty minutes"],
            ["baklava", "rose water", "six hours"],
            ["cinnamon rolls", "sour cream", "ninety minutes"],
            ["cheesecake", "lemon peel", "overnight"],
            ["pretzels", "lye", "an afternoon"],
            ["scones", "egg yolk", "no time"],
        ],
    },
    Episode {
        lines: &[
            "I met {x} at the station yesterday.",
            "That is a surprise. What is going on there?",
            "{y}, and a new flat in {z}.",
            "Time flies. We should invite them.",
        ],
        asked: &[
            ("plain", "Where did {N} run into {x}?", &[0]),
            ("other words", "What is new in the life of {x}?", &[2]),
            ("beside", "In which part of town does {x} live now?", &[2]),
        ],
        about: &[
            ["Mrs Abernathy", "Twins on the way", "Mill Lane"],
            ["Dr Okoro", "Retired at last", "Castle Hill"],
            ["Benedikt", "A divorce", "Fisher Street"],
            ["Yusuf", "A promotion", "the docklands"],
            ["Clara", "Engaged to a pilot", "Linden Square"],
            ["Professor Lindqvist", "A book deal", "Station Road"],
            ["Magda", "Out of hospital", "the west end"],
            ["Jerome", "A choir tour", "Baker's Row"],
            ["Old Tim", "A win in the lottery", "Harbour View"],
            ["Svetlana", "A second master's degree", "Tower Gardens"],
            ["Cousin Albie", "Sober for a year", "Chapel Yard"],
            ["Nadine", "A start-up", "Canal Walk"],
        ],
    },
    Episode {
        lines: &[
            "The council wants to build a {x} behind our house.",
            "Can they simply do that?",
            "There is a hearing in {y}. We collected {z} signatures against it.",
            "Put my name down too.",
        ],
        asked: &[
            ("plain", "How many signatures are there against the {x}?", &[2]),
            ("general", "What is planned near {N}'s home?", &[0]),
            ("beside", "When can the citizens object to the {x}?", &[2]),
        ],
        about: &[
            ["car park", "March", "640"],
            ["skate park", "May", "120"],
            ["waste plant", "June", "2300"],
            ["helipad", "October", "890"],
            ["petrol station", "January", "310"],
            ["shopping centre", "April", "1500"],
            ["motorway", "November", "4100"],
            ["crematorium", "July", "270"],
            ["stadium", "February", "770"],
            ["sawmill", "August", "450"],
            ["data centre", "December", "980"],
            ["cable car", "September", "530"],
        ],
    },
    Episode {
        lines: &[
            "I finished {x} last night, what a book.",
            "Is it the one about the {y}?",
            "Yes. The ending on the {z} made me weep.",
            "Lend it to me, please.",
        ],
        asked: &[
            ("plain", "What is {x} about?", &[1]),
            ("general", "Which novel moved {N} to tears?", &[0, 2]),
            ("beside", "Where does the last chapter of {x} take place?", &[2]),
        ],
        about: &[
            ["The Salt Road", "deaf smuggler", "glacier"],
            ["Nine Windows", "glass blower", "roof"],
            ["Hollow Kingdoms", "crow", "motorway bridge"],
            ["A Season of Moths", "night nurse", "pier"],
            ["The Cartographer's Wife", "mapmaker", "raft"],
            ["Small Thunder", "boxer", "staircase"],
            ["Inkblood", "forger", "scaffold"],
            ["The Last Lamplighter", "strike", "square"],
            ["Bitter Almonds", "poisoner", "train"],
            ["Paper Boats", "orphan", "river"],
            ["Under the Ash Tree", "vicar", "cemetery"],
            ["The Quiet Cook", "spy", "balcony"],
        ],
    },
    Episode {
        lines: &[
            "My knee is worse since the {x}.",
            "Did you see somebody about it?",
            "{y} looked at it and forbids me {z} until spring.",
            "Then do as you are told for once.",
        ],
        asked: &[
            ("other words", "What is {N} not allowed to do because of the injury from the {x}?", &[2]),
            ("plain", "Who examined the knee of {N} after the {x}?", &[2]),
            ("general", "How did {N} get hurt?", &[0]),
        ],
        about: &[
            ["marathon", "Dr Feldman", "stairs"],
            ["ski trip", "the physio", "cycling"],
            ["football match", "Nurse Joy", "kneeling"],
            ["moving day", "an osteopath", "lifting"],
            ["hurdle race", "Dr Castellanos", "running"],
            ["folk dance", "the acupuncturist", "high heels"],
            ["pilgrimage", "Sister Agnes", "long walks"],
            ["handball cup", "the team doctor", "training"],
            ["fall from the ladder", "Dr Petrov", "ladders"],
            ["trampoline", "Dr Ames", "jumping"],
            ["ice rink", "a chiropractor", "skating"],
            ["rowing camp", "Dr Bashir", "boats"],
        ],
    },
];

/// Turns about nothing. The blank is filled with what another world is about.
const PASSING: [&str; 8] = [
    "Somebody in the queue would not stop talking about {x}.",
    "I heard a long programme about {x} on the radio, by the way.",
    "The crossword had {x} in it, I was so proud.",
    "There was an advertisement for {x} on the bus.",
    "Do you have any opinion about {x}? Me neither.",
    "My phone keeps correcting words to {x}.",
    "In my dream there was {x} everywhere.",
    "The neighbours quarrelled about {x} half the night.",
];

const SMALL_TALK: [&str; 18] = [
    "Hi {O}, how are you?",
    "Good morning {O}! Did you sleep well?",
    "Not bad, thank you. A lot of work as usual.",
    "I am tired, but fine. How was your week?",
    "Hello {O}! Long time no see.",
    "Sorry, I was in a meeting. What did you say?",
    "Ha, that made me laugh.",
    "Let us talk again on the weekend.",
    "Right, I have to run. Take care, {O}!",
    "Thanks {O}, you are the best.",
    "It is so hot today, I cannot think.",
    "I just made some tea.",
    "The trains are late again, of course.",
    "What would I do without you?",
    "Exactly my thoughts.",
    "Anyway, tell me more about your day.",
    "Good night {O}, sleep well.",
    "That sounds lovely.",
];

/// The whole set.
pub fn set() -> Set {
    Set { conversations: (0..WORLDS).map(talk).collect() }
}

/// An episode as told in a world.
struct Told {
    episode: &'static Episode,
    about: [&'static str; 3],
    speaker: usize,
}

impl Told {
    fn words(&self, world: usize, template: &str) -> String {
        let [x, y, z] = self.about;
        let (first, other) = (PAIRS[world][self.speaker], PAIRS[world][1 - self.speaker]);
        template.replace("{x}", x).replace("{y}", y).replace("{z}", z).replace("{N}", first).replace("{O}", other)
    }
}

fn episodes(world: usize) -> Vec<Told> {
    let of = |(number, episode): (usize, &'static Episode)| {
        let rows = episode.about.iter().enumerate().filter(move |(row, _)| (row + number) % WORLDS == world);
        rows.map(move |(row, about)| Told { episode, about: *about, speaker: (row / WORLDS + number) % 2 })
    };
    EPISODES.iter().enumerate().flat_map(of).collect()
}

fn talk(world: usize) -> Talk {
    let mut chance = Chance::of(world as u64 + 71);
    let mut told = episodes(world);
    chance.shuffle(&mut told);
    let others: Vec<&str> =
        (1..WORLDS).flat_map(|step| episodes((world + step) % WORLDS)).flat_map(|told| told.about).collect();
    let mut sessions: Vec<Session> = Vec::new();
    let mut questions = Vec::new();
    let per_session = told.len().div_ceil(SESSIONS);
    for (number, some) in told.chunks(per_session.max(1)).enumerate() {
        let mut lines: Vec<(usize, String)> = Vec::new();
        let mut placed = Vec::new();
        small_talk(&mut chance, world, &others, &mut lines);
        for one in some {
            placed.push((one, lines.len()));
            let said = one.episode.lines.iter().enumerate();
            lines.extend(said.map(|(at, line)| ((one.speaker + at) % 2, one.words(world, line))));
            small_talk(&mut chance, world, &others, &mut lines);
        }
        let id = |at: usize| format!("w{world}.{number}.{at}");
        for (one, start) in placed {
            for (kind, question, evidence) in one.episode.asked {
                let evidence = evidence.iter().map(|line| id(start + line)).collect();
                questions.push(Asked { question: one.words(world, question), evidence, kind: (*kind).into() });
            }
        }
        let turn = |(at, (speaker, text)): (usize, (usize, String))| Turn {
            id: id(at),
            speaker: PAIRS[world][speaker].to_owned(),
            at: at_of(number, at),
            text,
        };
        sessions.push(Session {
            id: format!("w{world}.{number}"),
            turns: lines.into_iter().enumerate().map(turn).collect(),
        });
    }
    questions.extend(dated(world, &sessions, &questions));
    Talk { sessions, questions: merged(questions) }
}

/// Makes one of equal questions, with all their evidence.
fn merged(questions: Vec<Asked>) -> Vec<Asked> {
    let mut merged: Vec<Asked> = Vec::new();
    for asked in questions {
        match merged.iter_mut().find(|one| one.question == asked.question) {
            Some(one) => one.evidence.extend(asked.evidence),
            None => merged.push(asked),
        }
    }
    merged
}

fn small_talk(chance: &mut Chance, world: usize, others: &[&str], lines: &mut Vec<(usize, String)>) {
    for _ in 0..4 + chance.below(5) {
        let speaker = lines.last().map_or(0, |(last, _)| 1 - last);
        let line = if chance.below(3) == 0 {
            chance.among(&PASSING).replace("{x}", chance.among(others))
        } else {
            chance.among(&SMALL_TALK).replace("{O}", PAIRS[world][1 - speaker])
        };
        lines.push((speaker, line));
    }
}

fn at_of(session: usize, turn: usize) -> String {
    let day = session * 7;
    format!("2025-{:02}-{:02}T19:{:02}:00Z", 1 + day / 28 % 12, 1 + day % 28, turn % 60)
}

/// Questions for what was said in a month: two episodes with the same lines are told apart by it.
fn dated(world: usize, sessions: &[Session], questions: &[Asked]) -> Vec<Asked> {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    const ABOUT: [(&str, &str); 4] = [
        ("What pet does", "Which animal came to {N} in {month} 2025?"),
        ("Which job did", "Where did {N} give notice in {month}?"),
        ("Which novel moved", "What did {N} read in {month}?"),
        ("How did", "What happened to the knee of {N} in {month} 2025?"),
    ];
    let mut dated = Vec::new();
    for (begins, asks) in ABOUT {
        for one in questions.iter().filter(|one| one.question.starts_with(begins)) {
            let at = sessions.iter().flat_map(|session| &session.turns).find(|turn| turn.id == one.evidence[0]);
            let month: usize = at.unwrap().at.split('-').nth(1).unwrap().parse().unwrap();
            let name = PAIRS[world].iter().find(|name| one.question.contains(*name)).unwrap();
            let question = asks.replace("{N}", name).replace("{month}", MONTHS[month - 1]);
            dated.push(Asked { question, evidence: one.evidence.clone(), kind: "dated".into() });
        }
    }
    dated
}
