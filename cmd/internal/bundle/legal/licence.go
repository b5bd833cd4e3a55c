package legal

import "strings"

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
