package rules

import "go/token"

var (
	sleeping = map[string]bool{"Sleep": true}
	ticking  = map[string]bool{"NewTicker": true, "Tick": true}
)

// checkTiming refuses time.Sleep in tests, and tickers without a comment on the
// line above that says why nothing announces what they look for.
func checkTiming(t *Tree) ([]Problem, error) {
	all, err := t.sources()
	if err != nil {
		return nil, err
	}
	var out []Problem
	for _, s := range all {
		if s.isTest() {
			s.timeUses(sleeping, func(_ string, pos token.Pos) {
				out = append(out, Problem{
					File: s.name, Line: s.line(pos), What: "a test sleeps",
					Remedy: "wait for the event itself, or run the test on virtual time with testing/synctest",
				})
			})
		}
		commented := map[int]bool{}
		for _, g := range s.file.Comments {
			commented[s.line(g.End())] = true
		}
		s.timeUses(ticking, func(name string, pos token.Pos) {
			if line := s.line(pos); !commented[line-1] {
				out = append(out, Problem{
					File: s.name, Line: line, What: "time." + name + " without a comment on the line above",
					Remedy: "say there why nothing announces this, or wait for the event",
				})
			}
		})
	}
	return out, nil
}
