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
	b.WriteString("\nThe source of each module of Go is available under its name and version from the module's own address, and from the Go module mirrors.\n")
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

// mark is a licence by words of its text.
type mark struct{ words, licence string }

// marks are words that stand in the text of a licence and of none before it here.
var marks = []mark{
	{"Mozilla Public License, version 2.0", "MPL-2.0"},
	{"Mozilla Public License Version 2.0", "MPL-2.0"},
	{"GNU GENERAL PUBLIC LICENSE", ""},
	{"GNU LESSER GENERAL PUBLIC LICENSE", ""},
	{"Apache License Version 2.0", "Apache-2.0"},
	{"to endorse or promote products derived from this software without specific prior written permission", "BSD-3-Clause"},
	{"Redistribution and use in source and binary forms", "BSD-2-Clause"},
	{"Permission to use, copy, modify, and/or distribute this software for any purpose", "ISC"},
	{"Permission to use, copy, modify, and distribute this software for any purpose", "ISC"},
	{"Permission is hereby granted, free of charge, to any person obtaining a copy", "MIT"},
}

// Recognise gives the short name, by SPDX, of the licence whose text it is.
// Empty is one that is not known here, or one under which nothing is shipped.
func Recognise(text string) string {
	plain := strings.Join(strings.Fields(text), " ")
	for _, m := range marks {
		if strings.Contains(plain, m.words) {
			return m.licence
		}
	}
	return ""
}
