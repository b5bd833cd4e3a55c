package prepare

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func answer(node api.NodeID, versions string, problems ...api.Cause) api.Preflight {
	a := api.Preflight{Node: node, Problems: problems}
	for _, v := range strings.Fields(versions) {
		if a.Versions == nil {
			a.Versions = map[string]string{}
		}
		name, version, _ := strings.Cut(v, "=")
		a.Versions[name] = version
	}
	return a
}

func TestCompare(t *testing.T) {
	gone := api.Cause{Reason: api.ReasonProgramMissing, Subject: "/w/train.py", Message: "/w/train.py is not there.", Remedy: "Copy it there, or pass --sync (program.sync in a file)."}
	full := api.Cause{Reason: api.ReasonDiskFull, Subject: "/w", Message: "The disk with /w is full.", Remedy: "Free some space."}
	for _, test := range []struct {
		name    string
		answers []api.Preflight
		mixed   bool
		want    []api.Cause
	}{
		{"nothing", nil, false, nil},
		{"alike", []api.Preflight{answer("a", "python=3.12.1 mlx=0.32.4"), answer("b", "python=3.12.1 mlx=0.32.4")}, false, nil},
		{"one alone", []api.Preflight{answer("a", "python=3.12.1")}, false, nil},
		{"mlx", []api.Preflight{answer("a", "python=3.12.1 mlx=0.31.0"), answer("b", "python=3.12.1 mlx=0.32.4"), answer("c", "python=3.12.1 mlx=0.32.4")}, false, []api.Cause{{
			Reason: api.ReasonMLXVersionsDiffer, Subject: "mlx", Message: "MLX is 0.32.4 on b and c, 0.31.0 on a.",
			Remedy: "Install MLX 0.32.4 on a, or pass --allow-mixed (allow_mixed in a file).",
		}}},
		{"python and none of mlx_lm", []api.Preflight{answer("a", "python=3.12.1 mlx=1 mlx_lm=0.30.0"), answer("b", "python=3.9.6 mlx=1"), answer("c", "python=3.9.6 mlx=1")}, false, []api.Cause{
			{Reason: api.ReasonPythonVersionsDiffer, Subject: "python", Message: "Python is 3.9.6 on b and c, 3.12.1 on a.", Remedy: "Install Python 3.9.6 on a, or pass --allow-mixed (allow_mixed in a file)."},
			{Reason: api.ReasonPackageVersionsDiffer, Subject: "mlx_lm", Message: "mlx-lm is 0.30.0 on a, missing on b and c.", Remedy: "Install mlx-lm 0.30.0 on b and c, or pass --allow-mixed (allow_mixed in a file)."},
		}},
		{"allowed", []api.Preflight{answer("a", "mlx=1"), answer("b", "mlx=2", gone)}, true, []api.Cause{
			{Reason: gone.Reason, Subject: gone.Subject, Message: "b: /w/train.py is not there.", Remedy: gone.Remedy},
		}},
		{"one that is not prepared", []api.Preflight{answer("a", "mlx=1"), answer("b", ""), answer("c", "mlx=1")}, false, nil},
		{"problems that are alike", []api.Preflight{answer("a", "", gone), answer("b", "", full, gone), answer("c", "", gone)}, false, []api.Cause{
			{Reason: gone.Reason, Subject: gone.Subject, Message: "a, b and c: /w/train.py is not there.", Remedy: gone.Remedy},
			{Reason: full.Reason, Subject: full.Subject, Message: "b: The disk with /w is full.", Remedy: full.Remedy},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			is.Equal(Compare(test.answers, test.mixed, byID), test.want)
		})
	}
	is := is.New(t)
	named := Compare([]api.Preflight{answer("a", "", gone)}, false, func(id api.NodeID) string { return "mac-" + string(id) })
	is.Equal(named[0].Message, "mac-a: /w/train.py is not there.")
}

func byID(id api.NodeID) string { return string(id) }
