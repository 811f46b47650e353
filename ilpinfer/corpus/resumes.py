"""Synthetic English résumé items from a small grammar; all names are made up, and a seed gives the same items everywhere."""

from __future__ import annotations

import random
import re

from ilpinfer.corpus import NEWLINE
from ilpinfer.corpus.examples import Example

TITLE, DATE, ORG, DESCRIPTION, IGNORE = "job title", "date", "organization", "description", "ignore"
LABELS = (TITLE, DATE, ORG, DESCRIPTION, IGNORE)
HEAD_LABELS = {"title": TITLE, "date": DATE, "org": ORG}  # symbols with their own label in a header
MIN_LENGTH, MAX_LENGTH = 10, 300
TARGET_LENGTHS = (10, 16, 25, 36, 48, 62, 84, 125, 285)  # quantiles, in eighths, of the target length
SHARE_TWO_RUNS, SHARE_NO_DESCRIPTION, SHARE_DESCRIPTION_FIRST = 0.03, 0.04, 0.10
SHARE_UPPER_CASE, SHARE_LEAD, SHARE_TRAILER = 0.10, 0.45, 0.20  # of the items
SHARE_FRAGMENT, SHARE_ASIDE = 0.15, 0.05  # of the lines of a description

# A rule starts at the margin and lists alternatives between semicolons.  ¶ is a line break; <symbol> stands
# for an alternative of its rule, or is computed.  A "post" is a job title without its own label.
RULES = """
layout = <title> ¶ <org> ¶ <date>; <title> ¶ <org> , <town> ¶ <date>; <org> , <town> ¶ <title> ¶ <date>;
    <org> ¶ <title> ( <date> ); <org> <date> ¶ <title>; <date> ¶ <title> at <org>; <date> ¶ <org> ¶ <title>;
    <date> : <title> , <org> , <town>; <title> , <org> ( <date> ); <title> <dash> <org> ¶ <town> , <date>;
    <bullet> <title> in <dept> , <org> , <date>; <org> | <title> | <date>; I joined <org> as <title> , <date>;
    <title> ¶ <org> , <dept> department ¶ <date> ( part time ); <org> ¶ <title> , later <title> ¶ <date>;
    <date> <dash> <org> ( <trade> ) ¶ Position : <title>; Currently working with <org> as <title> , <date>;
    Employer : <org> ¶ Position : <title> ¶ Duration : <date>; Worked as <title> with <org> , <date>;
    Company : <org> , <town> ¶ Designation : <title> ¶ Period : <date>;
    <title> ¶ <org> ¶ <date> ¶ Reporting to : <post>; <title> ¶ <date> ¶ Client : <org> , Project : <object>;
    <org> , a leading provider of <product> for <customers> ¶ <title> ¶ <date>;
    <org> ¶ <verb> <object> for <customers> in <town> ¶ <title> ( <date> );
    <org> , known for <product> , with <num> people in <town> ¶ <date> ¶ <title>;
    <org> <dash> <task> and <task> for <customers> ¶ <date> : <title>;
    <org> , <task> and <product> for <customers> ¶ <title> ¶ <date>
lead = ¶ Responsibilities : ¶; ¶ Responsibilities include :; ¶ Key duties : ¶; ¶ Main tasks :;
    ¶ Role and responsibilities ¶; ¶ Description :; ¶ Team of <num> , <dept> ¶; ¶ Project : <object> ¶
open = ¶; ¶; ¶; ¶ ¶; :; <dash>; .
between = ¶ Key achievements : ¶; ¶ Achievements :; ¶ <date> , <title> ¶; ¶ <title> ¶ <date> ¶
trailer = ¶ Reason for leaving : end of contract; ¶ Reason for leaving : <own> closed the <dept> department;
    ¶ Tools used : <skill> , <skill> , <skill>; ¶ References on request; ¶ Reference : <post> , <own>
title = <post>; <post>; <post>; <post> , <dept>; Head of <dept>
post = <rank> <field> <role>; <field> <role>; <field> <role>; <rank> <role>; <role>; <rank> <field> Manager;
    Assistant to the <field> Manager; <dept> Trainee; Intern; <dept> Intern
rank = Senior; Junior; Lead; Principal; Assistant; Deputy; Regional; Chief; Associate; Trainee; Acting
field = Software; Sales; Marketing; Project; Account; Quality; Product; Data; Process; Design; Support;
    Office; Systems; Network; Warehouse; Research; Security; Production; Customer Service; Human Resources
role = Engineer; Manager; Analyst; Consultant; Developer; Assistant; Coordinator; Officer; Specialist; Nurse;
    Supervisor; Administrator; Technician; Director; Executive; Planner; Designer; Lecturer; Accountant
dept = Sales; Marketing; Finance; Operations; Research; Quality; Purchasing; Logistics; Engineering; Support;
    Human Resources; Customer Service; Product Development; Internal Audit; Planning
org = <name> <suffix>; <name> <trade> <suffix>; <name> <trade>; <name> and <name>; <name> & <name> <suffix>;
    University of <town>; <town> <institution>; <name> Institute of <field>; <name>; <name> Group , <town>;
    The <name> <trade> Company; Ministry of <trade> , <town>
suffix = Ltd; Inc .; GmbH; Group; Corp .; LLC; Pvt Ltd; Partners; Holdings; AG; International
trade = Software; Logistics; Foods; Consulting; Systems; Energy; Textiles; Engineering; Media; Insurance;
    Research; Motors; Health; Data; Retail; Travel; Design; Security; Marketing; Technology; Education
institution = City Council; General Hospital; College; Museum; Technical School; Savings Bank
date = <month> <from> <dash> <month> <to>; <month> <from> <dash> <month> <to>; <from> <dash> <to>; <from>;
    <from> to <to>; <month> <from> <dash> present; <from> <dash> present; <month> <from> to date;
    <mm> / <from> <dash> <mm> / <to>; since <from>; Summer <from>; Autumn <from>; <month> <from>
month = January; February; March; April; May; June; July; August; September; October; November; December; Jan;
    Feb; Mar; Apr; Jun; Jul; Aug; Sept; Oct; Nov; Dec
mm = 01; 02; 03; 04; 05; 06; 07; 08; 09
fragment = <verb> <object>; <verb> <object> for <customers>; <object> and <object>; <verb> the <area> team;
    <verb> <product>; daily <task> and <task>; <skill> , <skill> and <skill>; <task> for <customers>;
    <verb> <object> at <own>; support of the <dept> department; general <task>
sentence = <verb> <object> for <customers>; <verb> <object> and <object> on a weekly basis;
    <verb> <object> in <skill> and <skill>; <verb> the <area> team of <num> people in <town>;
    <verb> <product> and <task> across <num> sites; <verb> <object> , <object> and <task>;
    <verb> <object> in order to cut the cost of <task> by <num> %; <verb> <customers> on <task> and <product>;
    <verb> <object> with <num> partners , which raised sales by <num> % in <from>;
    <verb> and maintained <object> , from first draft to <task>; worked closely with <customers> on <object>;
    <verb> new staff in <task> , <task> and the use of <skill>; took over <task> from <org> in <month> <from>;
    <verb> the move from <skill> to <skill> without loss of data; duties ranged from <task> to <ing> <object>;
    <verb> <num> projects worth <num> million in <num> months; won the award of <own> for <task> in <from>;
    <verb> the yearly budget of <num> million for <dept>; visited <org> in <town> , <org> in <town> and <org>;
    <verb> minutes , agendas and <object> for meetings of the board; worked with <org> and <org> on <object>;
    responsible for <task> and <task> , reporting to the <post> of <own>; kept <object> up to date in <skill>;
    responsible for <object> and for a team of <num>; reported to the <post> on the state of <object>;
    in charge of <task> for <product> , with a staff of <num>; used <skill> , <skill> and <skill> for <task>;
    acted as <post> while <object> were under review; part of the <area> group that <past> <object> for <org>;
    first point of contact for <customers> in <town> and <town>; Client : <org> , <town> <dash> <object>;
    member of the committee for <task> since <from>; answered up to <num> calls a day from <customers>;
    made sure that <object> met the rules of the <area> office;
    wrote <object> and gave talks on <task> at the University of <town>;
    between <from> and <to> the team <past> <object> for <customers>;
    this included <task> , <task> and , from <month> <from> , <object>;
    the project saved <own> about <num> hours of <task> per month;
    promoted to <post> after <num> months for work on <object>;
    set up the <dept> unit of <name> <trade> in <town>;
    the <dept> office of <own> in <town> served <org> and <org>
base = manage; develop; coordinate; design; prepare; organize; review; support; create; implement; maintain;
    monitor; analyse; improve; deliver; handle; check; document; introduce; negotiate; present; assist; train;
    update; evaluate; launch; inspect; record; install; arrange; produce; schedule
object = weekly reports; <product> orders; the <area> plan; client accounts; monthly invoices; stock records;
    training material; the <skill> database; user manuals; project plans; contracts with suppliers; web pages;
    test cases; the design of <product>; sales figures; quality standards; the <dept> budget; the help desk;
    delivery routes; research papers; marketing campaigns; interviews; safety rules; patient files
task = planning; data entry; stock control; staff training; quality control; account management; reporting;
    testing; customer service; sales; purchasing; software design; research; project management; maintenance;
    budgeting; process improvement; support; recruitment; product marketing; system administration
product = software; office supplies; network systems; mobile phones; water pumps; insurance plans; furniture;
    packaged foods; medical devices; travel packages; solar panels; course material; spare parts
customers = customers; key clients; internal users; students; patients; suppliers; visitors; retail partners;
    new hires; public offices; the sales team; senior management; <num> clients; clients in <town>; <org>
skill = spreadsheets; Linux; SQL; Java; Python; C; HTML; CAD drawings; bookkeeping; UNIX; XML; statistics
area = software; sales; marketing; project; quality; support; data; research; security; production; design
name-start = Brev; Caldr; Drell; Elvar; Fenn; Gorv; Halm; Irv; Jost; Kelv; Lund; Morv; Nesk; Orv; Prax; Quell
name-end = ando; ara; wick; mere; stead; ano; olm; orra; ivia; usk; enna
town-start = Ashen; Birken; Colder; Dunner; Ester; Fairn; Glenner; Hazel; Kirren; Larch; Mossen; Netter
town-end = haven; moor; brook; gate; fold; mouth
aside = <post> , <org> ( <date> ); <date> : <object> for <org> , <town>; Project : <object> ( <date> );
    <org> , <town> ¶ <date>; <date> ¶ <post>; <post> at <org> , <date>; Client : <org> , <town> ¶ <date>
"""
GRAMMAR = {
    rule.split(" = ")[0]: re.split(r";\s+", rule.split(" = ", 1)[1].replace("¶", NEWLINE))
    for rule in re.split(r"\n(?=\S)", RULES.strip())
}


class _Writer:
    """Writes one item: the style is chosen once, everything else follows the grammar."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.own: list[str] = []  # the organization of the header
        self.bullet, self.dash = self.pick(["", "", "-", "*", "•"]), self.pick(["-", "-", "–", "to"])
        self.stop = self.pick([".", ".", "", ";"])
        self.breaks = bool(self.bullet) or self.chance(0.3)
        self.tense = self.pick(["past", "past", "verb", "ing"])
        self.capitals, self.upper = self.chance(0.7), self.chance(SHARE_UPPER_CASE)

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def pick(self, table: list[str]) -> str:
        return table[int(self.rng.random() * len(table))]

    def compute(self, symbol: str) -> list[str]:
        """Return the tokens of a symbol that has no rule, an empty list for the others."""
        match symbol:
            case "name" | "town":
                return [self.pick(GRAMMAR[symbol + "-start"]) + self.pick(GRAMMAR[symbol + "-end"])]
            case "num":
                return [str(2 + int(self.rng.random() * self.rng.random() * 90))]
            case "from":
                self.year = 1986 + int(self.rng.random() * 28)
                return [str(self.year)]
            case "to":
                return [str(self.year + 1 + int(self.rng.random() * 6))]
            case "verb" | "past" | "ing":
                base, form = self.pick(GRAMMAR["base"]), self.tense if symbol == "verb" else symbol
                return [base if form == "verb" else base.removesuffix("e") + form.replace("past", "ed")]
            case "dash" | "bullet":
                return [self.dash if symbol == "dash" else self.bullet or "*"]
            case "own":
                return self.own
        return []

    def expand(self, text: str, label: str) -> list[tuple[str, str]]:
        """Replace the symbols of `text`, recursively, and label the tokens that result."""
        tokens: list[tuple[str, str]] = []
        for word in text.split():
            if not word.startswith("<"):
                tokens.append((word, label))
                continue
            symbol = word.strip("<>")
            inner = HEAD_LABELS.get(symbol, label) if label == IGNORE else label
            result = [(token, inner) for token in self.compute(symbol)]
            result = result or self.expand(self.pick(GRAMMAR[symbol]), inner)
            if self.upper and inner in (TITLE, ORG):
                result = [(token.upper(), inner) for token, _ in result]
            if symbol == "org" and inner == ORG:
                self.own = [token for token, _ in result]
            tokens += result
        return tokens

    def description(self, length: int) -> list[tuple[str, str]]:
        tokens: list[str] = []
        while not tokens or len(tokens) < length - 3:
            kind = "<fragment>" if length - len(tokens) < 9 or self.chance(SHARE_FRAGMENT) else "<sentence>"
            kind = "<aside>" if tokens and self.chance(SHARE_ASIDE) else kind
            line = [token for token, _ in self.expand(kind, DESCRIPTION)]
            if self.capitals:
                line[0] = line[0][0].upper() + line[0][1:]
            before = [NEWLINE] if tokens and self.breaks else []
            after = self.stop or ("" if self.breaks else ",")
            tokens += [*before, *self.bullet, *line, *after]
        return [(token, DESCRIPTION) for token in (tokens[:-1] if tokens[-1] in ",;" else tokens)]

    def item(self) -> list[tuple[str, str]]:
        place = self.rng.random() * (len(TARGET_LENGTHS) - 1)
        low, high = TARGET_LENGTHS[int(place)], TARGET_LENGTHS[int(place) + 1]
        head = self.expand("<layout>", IGNORE)
        trailer = self.expand("<trailer>", IGNORE) if self.chance(SHARE_TRAILER) else []
        if self.chance(SHARE_NO_DESCRIPTION):
            return head + trailer
        room = int(low + (place - int(place)) * (high - low)) - len(head) - len(trailer)
        if self.chance(SHARE_DESCRIPTION_FIRST):
            return [*self.description(room), (NEWLINE, IGNORE), *head]
        lead = self.expand("<lead>" if self.chance(SHARE_LEAD) else "<open>", IGNORE)
        if self.chance(SHARE_TWO_RUNS):
            first = self.description(room // 2) + self.expand("<between>", IGNORE)
            return head + lead + first + self.description(room // 2) + trailer
        return head + lead + self.description(room - len(lead)) + trailer


def items(count: int, seed: int = 0) -> list[Example]:
    """Generate labelled items.

    Parameters
    ----------
    count : int
        Number of items; a longer list for the same seed begins with the shorter one.
    seed : int, default 0
        Seed of the generator.

    Returns
    -------
    list of Example
        Items of 10 to 300 tokens.

    Examples
    --------
    >>> [len(item.tokens) for item in items(3, seed=0)]
    [99, 44, 27]
    """
    rng = random.Random(seed)
    result: list[Example] = []
    while len(result) < count:
        tokens, labels = zip(*_Writer(rng).item(), strict=True)
        if MIN_LENGTH <= len(tokens) <= MAX_LENGTH:
            result.append(Example(tokens, labels, f"item {len(result)}"))
    return result
