package console

// word is a part of a sentence. IsName is true if a person chose the text. ID is the id that the text names, or "".
type word struct {
	Text   string
	IsName bool
	ID     string
}

// spoken returns a text of the console, written one that a person chose.
func spoken(words string) word  { return word{Text: words} }
func written(words string) word { return word{Text: words, IsName: true} }

// user, role, group, agent and project return the name of an id.
func (n names) user(id string) word    { return wordFor(id, n.Person(id).Shown()) }
func (n names) role(id string) word    { return wordFor(id, n.Role(id)) }
func (n names) group(id string) word   { return wordFor(id, n.Group(id)) }
func (n names) agent(id string) word   { return wordFor(id, n.Agent(id)) }
func (n names) project(id string) word { return wordFor(id, n.Project(id)) }

func wordFor(id, shown string) word {
	if shown == id {
		return written(id)
	}
	return word{shown, true, id}
}
