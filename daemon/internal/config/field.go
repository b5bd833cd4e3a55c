package config

import (
	"strings"
)

// Field is one key of the configuration: what may be written, and what it does.
type Field struct {
	// Key is its name with its table, joined by dots.
	Key string
	// Type is what a value is, in a few words.
	Type string
	// Range is what values are allowed, in a few words.
	Range string
	// Restart says that a change takes effect after a restart of the daemon; all
	// others do at once.
	Restart bool
	// Doc is what it does, in one sentence or two.
	Doc string

	kind  kind
	start any // the default, as get has it
	// get returns a value as TOML and JSON have it, set takes one: string, int64
	// or []any of strings. The error of set is one clause about the value.
	get func(*Config) any
	set func(*Config, any) error
}

// kind is the form of a value.
type kind int

const (
	textKind kind = iota
	numberKind
	listKind
)

// Default is the value where the file has none, as TOML.
func (f Field) Default() string { return render(f.start) }

// Table is the part of the key before the last dot.
func (f Field) Table() string { return f.Key[:strings.LastIndexByte(f.Key, '.')] }

// Name is the part of the key after the last dot.
func (f Field) Name() string { return f.Key[strings.LastIndexByte(f.Key, '.')+1:] }

// restart marks a field.
func (f Field) restart() Field {
	f.Restart = true
	return f
}

// Lookup finds a key.
func Lookup(key string) (Field, bool) {
	for _, f := range Fields() {
		if f.Key == key {
			return f, true
		}
	}
	return Field{}, false
}

// Keys are the names of all keys, in the order of the documentation.
func Keys() []string {
	var out []string
	for _, f := range Fields() {
		out = append(out, f.Key)
	}
	return out
}

// Default is the configuration of an empty file.
func Default() Config {
	var c Config
	for _, f := range Fields() {
		if err := f.set(&c, f.start); err != nil {
			panic("config: the default of " + f.Key + " " + err.Error())
		}
	}
	return c
}
