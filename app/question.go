package app

// Question asks for a line of text.
type Question struct {
	// Title is the question.
	Title string
	// Text explains it.
	Text string
	// Hint stands in the empty line; may be empty.
	Hint string
	// Answer stands in the line already; may be empty.
	Answer string
}

// CodeQuestion asks for the code of a dialog.
func CodeQuestion(d Dialog) Question {
	return Question{Title: d.Title, Text: d.Text, Hint: "XXXX-XXXX"}
}

// AccountQuestion asks as whom the people of a cluster, or of a Mac that joins, may
// run programs here; account is whoever asks for it. An empty answer is nobody.
func AccountQuestion(account string) Question {
	return Question{Title: "As whom may its people run programs on this Mac?", Hint: "nobody", Answer: account,
		Text: "Any member can run programs here, but only as a local account that you name, with its rights. Clear the line for nobody; you can choose later, too."}
}
