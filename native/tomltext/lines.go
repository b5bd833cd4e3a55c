package tomltext

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Place is a position for people.
type Place struct {
	// Line counts from 1.
	Line int
	// Column counts characters from 1.
	Column int
}

// PlaceOf is where a byte stands.
func PlaceOf(text string, at int) Place {
	at = min(at, len(text))
	before := text[:at]
	start := strings.LastIndexByte(before, '\n') + 1
	return Place{Line: strings.Count(before, "\n") + 1, Column: utf8.RuneCountInString(before[start:]) + 1}
}

// Lines maps the name of every table, key and element of a list to its line, from
// 1: "mac[1].port[0].place". [Join] makes such names.
type Lines map[string]int

// At returns the line of a name, or of the nearest table around it; 0 where there is
// none.
func (l Lines) At(name string) int {
	for {
		if line, ok := l[name]; ok || name == "" {
			return line
		}
		name = name[:max(0, strings.LastIndexAny(name, ".["))]
	}
}

// Join appends a key to the name of its table; keys that would read as part of one
// are quoted.
func Join(table, key string) string {
	if key == "" || strings.ContainsAny(key, ".[]\" ") {
		key = strconv.Quote(key)
	}
	if table == "" {
		return key
	}
	return table + "." + key
}

// maxNames bounds the bytes of all names that one scan makes: they grow with the
// square of the text. What comes then is where its table is.
const maxNames = 32 << 20

// lines notes the lines of names, from the first to the last.
type lines struct {
	known    Lines
	elements map[string]int // of arrays of tables, by name
	counted  int            // the bytes up to which lines are counted
	line     int            // the line of that byte
	spent    int            // of maxNames
}

// lineOf is the line of a byte, none of which is before another that was asked for.
func (l *lines) lineOf(text string, at int) int {
	l.line += strings.Count(text[l.counted:at], "\n")
	l.counted = at
	return l.line
}

// note gives a name the line, unless it has one.
func (l *lines) note(name string, line int) {
	if _, ok := l.known[name]; !ok {
		l.known[name] = line
	}
}

// key is the name of a key in a table.
func (l *lines) key(table, key string) string {
	if l.spent += len(table) + len(key); l.spent > maxNames {
		return table
	}
	return Join(table, key)
}

// element is the name of an element of a list.
func (l *lines) element(list string, i int) string {
	if l.spent += len(list); l.spent > maxNames {
		return list
	}
	return list + "[" + strconv.Itoa(i) + "]"
}

// header notes a header's tables, and gives the name of the last.
func (l *lines) header(path []string, isArray bool, line int) (name string) {
	for i, key := range path {
		name = l.key(name, key)
		if isArray && i == len(path)-1 {
			l.note(name, line)
			l.elements[name]++
		}
		if n := l.elements[name]; n > 0 {
			name = l.element(name, n-1)
		}
		l.note(name, line)
	}
	return name
}
