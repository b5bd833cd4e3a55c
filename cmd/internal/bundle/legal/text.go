package legal

import (
	"fmt"
	"strings"
)

// Text is the file of licences that is shipped: what is in it, and each text
// once, with all that it is for.
func Text(own string, parts []Component) string {
	var b strings.Builder
	b.WriteString("Fulmen is under the Apache License 2.0, whose text is the first below. It contains, unchanged:\n\n")
	for _, c := range parts {
		fmt.Fprintf(&b, "  %s %s (%s)\n", c.Name, c.Version, c.Licence)
	}
	b.WriteString("\nThe source of each module of Go is to be had under its name and version from the module's own address, and from the Go module mirrors.\n")
	section(&b, []string{"Fulmen"}, own)
	var order []string
	users := map[string][]string{}
	for _, c := range parts {
		for _, text := range c.Texts {
			if users[text] == nil {
				order = append(order, text)
			}
			users[text] = append(users[text], c.Name+" "+c.Version)
		}
	}
	for _, text := range order {
		section(&b, users[text], text)
	}
	return b.String()
}

func section(b *strings.Builder, users []string, text string) {
	b.WriteString("\n" + strings.Repeat("=", 80) + "\n")
	for _, user := range users {
		b.WriteString(user + "\n")
	}
	b.WriteString(strings.Repeat("-", 80) + "\n\n" + strings.TrimSpace(text) + "\n")
}
