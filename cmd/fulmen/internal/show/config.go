package show

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Config writes every key with its value. What the file sets has a star.
func (v View) Config(w *Page, l api.DaemonConfigResult) {
	table := v.table("KEY", "VALUE", "", "+DEFAULT", "+WHAT IT DOES")
	left := 0
	for _, k := range l.Keys {
		if !v.Wide && !k.Set && Value(k.Value) == "" {
			left++
			continue
		}
		table.Row(k.Key, Value(k.Value), choose(k.Set, "*", ""), Value(k.Default), k.Doc)
	}
	rest := ""
	if left > 0 {
		rest = fmt.Sprintf("; %d keys are empty, and --wide shows them", left)
	}
	w.Table(table)
	fmt.Fprintf(w, "\n* set in %s%s\n", text.Clean(l.File), rest)
	if l.Error != nil {
		w.Line("The file has an error, so the settings from before stay in effect: " + l.Error.Message)
	}
}

// Value is a value of the configuration as a person writes it on a command
// line: texts without quotes.
func Value(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return text.Clean(s)
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil && list != nil {
		return text.Clean(strings.Join(list, ","))
	}
	return text.Clean(string(raw))
}

// exampleWidth is where lines of comments end.
const exampleWidth = 100

// Example writes a configuration file in which every key is a comment, with its
// default and what it does, so that the file changes nothing by itself.
func Example(w *Page, keys []api.ConfigKey) {
	var b strings.Builder
	b.WriteString("# Configuration of Fulmen. Every key is shown with its default; remove the # in front of one to change it.\n")
	table := ""
	for _, k := range keys {
		name := k.Key
		if dot := strings.LastIndexByte(k.Key, '.'); dot >= 0 {
			name = k.Key[dot+1:]
			if t := k.Key[:dot]; t != table {
				table = t
				fmt.Fprintf(&b, "\n[%s]\n", table)
			}
		}
		comment(&b, k.Doc)
		if k.NeedsRestart {
			comment(&b, "Takes effect after a restart.")
		}
		// What JSON writes for texts, numbers, booleans and lists of them, TOML reads.
		fmt.Fprintf(&b, "# %s = %s\n", name, text.Clean(string(k.Default)))
	}
	io.WriteString(w, b.String())
}

// comment writes a text as comments of about exampleWidth columns.
func comment(b *strings.Builder, s string) {
	line := "#"
	for word := range strings.FieldsSeq(text.Clean(s)) {
		if text.Width(line)+1+text.Width(word) > exampleWidth && line != "#" {
			b.WriteString(line + "\n")
			line = "#"
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}

// Tokens writes a table of tokens.
func (v View) Tokens(w *Page, all []api.TokenInfo) {
	if len(all) == 0 {
		w.Line("There are no tokens. Make one with: fulmen token create")
		return
	}
	table := text.NewTable("NAME", "FOR", "MADE", "USED", "VALID")
	for _, t := range all {
		valid := "until revoked"
		switch {
		case t.ExpiresAt.IsZero():
		case !t.ExpiresAt.After(v.Now):
			valid = "expired"
		default:
			valid = "for " + text.Duration(t.ExpiresAt.Sub(v.Now))
		}
		what := "the API"
		if t.Endpoint {
			what = "the endpoint"
		}
		table.Row(t.Name, what, text.Ago(v.Now, t.CreatedAt.Time), text.Ago(v.Now, t.UsedAt.Time), valid)
	}
	w.Table(table)
}
