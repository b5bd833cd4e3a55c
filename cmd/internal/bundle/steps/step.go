package steps

import (
	"regexp"
	"strings"
)

// Step is one command.
type Step struct {
	// Why says in a few words what it is for.
	Why string
	// Command is the program and its arguments.
	Command []string
	// Secret are the arguments that no log shows, by their places in Command.
	Secret []int
}

// String is the command as a person would type it, without what is secret.
func (s Step) String() string {
	words := make([]string, len(s.Command))
	for n, word := range s.Command {
		words[n] = quoted(word)
	}
	for _, n := range s.Secret {
		words[n] = "***"
	}
	return strings.Join(words, " ")
}

// plain matches words that every shell takes as they are.
var plain = regexp.MustCompile(`^[A-Za-z0-9@%+:,./_-][A-Za-z0-9@%+=:,./_-]*$`)

func quoted(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
