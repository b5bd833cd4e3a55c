package prepare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"fulmen/daemon/api"
)

// Compare says what keeps a program from running on all the nodes that answered:
// their problems, those that are alike in one sentence, and then, unless
// allowMixed, what is not the same everywhere. name is what people call a node.
func Compare(answers []api.Preflight, allowMixed bool, name func(api.NodeID) string) []api.Cause {
	out := shared(answers, name)
	if allowMixed {
		return out
	}
	return append(out, differences(answers, name)...)
}

// shared are the nodes' problems, in the order in which they were first met.
func shared(answers []api.Preflight, name func(api.NodeID) string) []api.Cause {
	var out []api.Cause
	where := map[api.Cause][]string{}
	for _, answer := range answers {
		for _, problem := range answer.Problems {
			if where[problem] == nil {
				out = append(out, problem)
			}
			where[problem] = append(where[problem], name(answer.Node))
		}
	}
	for i, problem := range out {
		out[i].Message = list(where[problem]) + ": " + problem.Message
	}
	return out
}

// differences are the versions that are not the same on all nodes. A node that
// told none, such as one that is not prepared yet, is not compared; one that told
// others and not this one has none.
func differences(answers []api.Preflight, name func(api.NodeID) string) []api.Cause {
	packages := map[string]bool{}
	for _, answer := range answers {
		for p := range answer.Versions {
			packages[p] = true
		}
	}
	var out []api.Cause
	for _, p := range slices.SortedFunc(maps.Keys(packages), byWeight) {
		nodes := map[string][]string{} // by version; "" = none
		for _, answer := range answers {
			if len(answer.Versions) > 0 {
				version := answer.Versions[p]
				nodes[version] = append(nodes[version], name(answer.Node))
			}
		}
		if len(nodes) > 1 {
			out = append(out, difference(p, nodes))
		}
	}
	return out
}

func difference(p string, nodes map[string][]string) api.Cause {
	// What most nodes have comes first, and is what the others should get.
	versions := slices.SortedFunc(maps.Keys(nodes), func(a, b string) int {
		if (a == "") != (b == "") {
			return strings.Compare(b, a) // none comes last
		}
		if n := len(nodes[b]) - len(nodes[a]); n != 0 {
			return n
		}
		return strings.Compare(b, a)
	})
	var reports, others []string
	for i, version := range versions {
		what := version
		if version == "" {
			what = "missing"
		}
		reports = append(reports, what+" on "+list(nodes[version]))
		if i > 0 {
			others = append(others, nodes[version]...)
		}
	}
	return api.Cause{
		Reason: reasonOf(p), Subject: p,
		Message: fmt.Sprintf("%s is %s.", title(p), strings.Join(reports, ", ")),
		Remedy:  fmt.Sprintf("Install %s %s on %s, or pass --allow-mixed (allow_mixed in a file).", title(p), versions[0], list(others)),
	}
}

// byWeight puts python first, then mlx, then the others by name.
func byWeight(a, b string) int {
	weight := func(p string) int { return slices.Index([]string{"mlx", "python"}, p) }
	if n := weight(b) - weight(a); n != 0 {
		return n
	}
	return strings.Compare(a, b)
}

func reasonOf(p string) api.Reason {
	switch p {
	case "python":
		return api.ReasonPythonVersionsDiffer
	case "mlx":
		return api.ReasonMLXVersionsDiffer
	}
	return api.ReasonPackageVersionsDiffer
}

// title is a package's name as its makers write it.
func title(p string) string {
	if written, ok := map[string]string{"python": "Python", "mlx": "MLX", "mlx_lm": "mlx-lm"}[p]; ok {
		return written
	}
	return p
}

// list is "a", "a and b", "a, b and c".
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
