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
		return text.Unknown + " (not learnt yet)"
	}
	return text.Unknown + " (" + because(reason) + ")"
}

// lastTold says of a document that is kept, though the system tells nothing of
// its kind any more, why; it has the kind itself among what is unknown.
func lastTold(doc api.Document) string {
	reason, ok := doc.Unknown[string(doc.Kind)]
	if !ok {
		return ""
	}
	return "as last told: " + because(reason)
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
func join(separator string, parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, separator)
}
