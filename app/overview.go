package app

import "strings"

// Overview is what a window says where the menu cannot be reached: macOS hides
// pictures for which the menu bar has no room, and people hide them.
type Overview struct {
	// Title is its headline.
	Title string
	// Text is how things are, a line each.
	Text string
	// Choices are its buttons, the first one by the Return key.
	Choices []Item
}

// mostOverview is how many lines an overview has at most.
const mostOverview = 14

// Overview is the window of a menu: what is wrong, what runs and how the Macs
// fare, with the next step.
func (m Menu) Overview() Overview {
	o := Overview{Title: "Fulmen"}
	var lines []string
	left := 0
	for _, i := range m.Items {
		kind, _, _ := strings.Cut(i.ID, ":")
		switch {
		case i.ID == "obstacle:next":
			o.Choices = append(o.Choices, i)
		case i.IsSeparator():
		case kind == "obstacle" || kind == "summary" || kind == "code" || kind == "pending" || kind == "condition" || kind == "trouble" ||
			kind == "job" || kind == "node" || kind == "cables":
			if len(lines) == mostOverview {
				left++
				continue
			}
			lines = append(lines, i.Title)
		}
	}
	if left > 0 {
		lines = append(lines, plural(left, "more line")+" in the menu")
	}
	o.Text = strings.Join(lines, "\n")
	for _, i := range m.Items {
		if i.ID == "dashboard" || i.ID == "diagnostics" || i.ID == "quit" {
			o.Choices = append(o.Choices, i)
		}
	}
	return o
}
