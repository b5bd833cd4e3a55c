package show

import (
	"strings"
	"time"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// View is how something is shown.
type View struct {
	// Now is the time that ages are counted from.
	Now time.Time
	// Wide gives reasons for what is unknown, and more columns.
	Wide bool
}

// Page is a text for people in the making.
type Page struct {
	strings.Builder
	// Screen is what it is made for.
	Screen text.Screen
}

// Table adds a table, as the screen shows it.
func (p *Page) Table(t interface{ Draw(text.Screen) string }) { p.WriteString(t.Draw(p.Screen)) }

// String is the text, its sentences broken where the screen ends.
func (p *Page) String() string { return text.WrapSentences(p.Builder.String(), p.Screen.Columns) }

// Line adds a line, made harmless.
func (p *Page) Line(s string) { p.WriteString(text.Clean(s) + "\n") }

// table is one whose columns for wide screens alone are left out of others.
type table struct {
	*text.Table
	left []bool
}

// table makes one. The headings of columns for wide screens alone begin with +.
func (v View) table(heading ...string) table {
	t := table{left: make([]bool, len(heading))}
	for i, h := range heading {
		name, isWide := strings.CutPrefix(h, "+")
		heading[i], t.left[i] = name, isWide && !v.Wide
	}
	t.Table = text.NewTable(t.kept(heading)...)
	return t
}

// Row adds a row, with a cell for every column.
func (t table) Row(cells ...string) { t.Table.Row(t.kept(cells)...) }

func (t table) kept(cells []string) (out []string) {
	for i, c := range cells {
		if !t.left[i] {
			out = append(out, c)
		}
	}
	return out
}

// given is a value in words, where there is one.
func given[T any](p *T, words func(T) string) string {
	if p == nil {
		return none
	}
	return words(*p)
}

// some is a number in words, where it is more than 0.
func some[T int | int64](n T, words func(T) string) string {
	if n <= 0 {
		return none
	}
	return words(n)
}

// facts are a node's documents.
type facts struct {
	View
	node api.NodeID
	docs []api.Document
}

// read decodes the document of a kind; the document is empty where there is
// none that can be read.
func (f facts) read(kind api.Kind, into any) (api.Document, bool) {
	for _, d := range f.docs {
		if d.Node == f.node && d.Kind == kind && !d.Deleted {
			return d, d.Decode(into) == nil
		}
	}
	return api.Document{}, false
}

// unknown is the word for a field that is absent, on wide screens with its reason.
func (v View) unknown(doc api.Document, field string) string {
	if !v.Wide {
		return text.Unknown
	}
	reason, ok := doc.Unknown[field]
	if !ok {
		return text.Unknown + " (not known yet)"
	}
	return text.Unknown + " (" + because(reason) + ")"
}

// lastReported says of a document that is kept, though the system tells nothing of
// its kind any more, why; it has the kind itself among what is unknown.
func lastReported(doc api.Document) string {
	reason, ok := doc.Unknown[string(doc.Kind)]
	if !ok {
		return ""
	}
	return "last known: " + because(reason)
}

// because is a reason in words, without the full stop.
func because(reason api.Reason) string {
	if info, ok := api.LookupReason(reason); ok {
		return strings.TrimSuffix(info.Text, ".")
	}
	return string(reason)
}

// or is the text, or unknown.
func (v View) or(s string, doc api.Document, field string) string {
	if s == "" {
		return v.unknown(doc, field)
	}
	return s
}

// join leaves out what is empty.
func join(separator string, parts ...string) string { return joined(separator, parts) }

func joined[S ~string](separator string, parts []S) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, string(p))
		}
	}
	return strings.Join(out, separator)
}

// prefixed puts something in front of a text that is not empty.
func prefixed(prefix, s string) string { return choose(s == "", "", prefix+s) }
