package native

import "context"

// Comparer is implemented by facts that a second source of the same system can be held
// against. Comparing may start programs and take seconds: only a person asks for it.
type Comparer interface {
	// Compare tells each fact by both sources.
	Compare(ctx context.Context) []Comparison
}

// Comparison is one fact as two sources tell it.
type Comparison struct {
	// Fact names it for people: "receptacle 4, negotiated".
	Fact string
	// Sources are the two, such as the registry and system_profiler, and Told what each
	// says; empty where it does not say.
	Sources, Told [2]string
	// Same says that both mean the same, also where they use other words for it.
	Same bool
	// Why is why a source does not say; empty where that is not known.
	Why Reason
}

// Known reports whether both sources say something.
func (c Comparison) Known() bool { return c.Told[0] != "" && c.Told[1] != "" }
