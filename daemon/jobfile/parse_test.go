package jobfile

import (
	"errors"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

const studio = api.NodeID("csm7nbfrcayqev4e")

func node(word string) (api.NodeID, error) {
	if word == "mac-studio" || word == string(studio) {
		return studio, nil
	}
	return "", api.Errorf(api.ReasonBadValue, "node", "There is no node %q.", word)
}

const whole = `name = "train"
retries = 2
detached = true
sharding = "pipeline"

[model]
model = "org/m"
revision = "main"

[program]
command = ["python", "train.py", "--lr", "3e-4"]
directory = "~/work"
variables = ["HF_TOKEN"]
stdin = "none"

[placement]
ranks = 2
ranks_per_node = 2
nodes = ["mac-studio"]
rank0 = "mac-studio"
backend = "ring"
memory_bytes = 8589934592
per_node = "memory"

[deadlines]
placing_s = 60
run_s = 3600.5

[[publish]]
port = 8080

[[publish]]
port = 8081
lan = true

[labels]
team = "a.b"
`

func TestParse(t *testing.T) {
	is := is.New(t)
	got, err := Parse("job.toml", whole, node)
	is.NoErr(err)
	placing, running := 60.0, 3600.5
	is.Equal(got, api.JobRequest{
		Name: "train", Retries: 2, Detached: true, Labels: map[string]string{"team": "a.b"},
		Model: api.ModelSelect{Model: "org/m", Revision: "main"}, Sharding: api.ShardingPipeline,
		Program:   api.Program{Command: []string{"python", "train.py", "--lr", "3e-4"}, Directory: "~/work", Variables: []string{"HF_TOKEN"}, Stdin: api.StdinNone},
		Placement: api.Placement{Ranks: 2, RanksPerNode: 2, Nodes: []api.NodeID{studio}, Rank0: studio, Backend: api.BackendRing, MemoryBytes: 8 << 30, ShareBy: api.ShareByMemory},
		Deadlines: api.Deadlines{PlacingS: &placing, RunS: &running},
		Publish:   []api.Publish{{Port: 8080}, {Port: 8081, LAN: true}},
	})
}

func TestParseSaysWhatIsWrongAndWhere(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"name = \"x\"\nretires = 2\n", `job.toml:2: there is no field "retires"; the nearest is retries; the fields are after, allow_mixed, `},
		{"[program]\ncommand = []\n\n[placement]\n\nranks = 2\nnode = []\n", `job.toml:7: there is no field "node" in placement; the nearest is nodes; the fields are backend, `},
		{"[placement]\nranks = 2\n[placement.more]\nx = 1\n", `job.toml:3: there is no field "more" in placement`},
		{"[placement]\nrank = 2\n", `job.toml:2: there is no field "rank" in placement; the nearest is ranks; `},
		{"[placement]\nmin_node = 2\n", `job.toml:2: there is no field "min_node" in placement; the nearest is min_nodes; `},
		{"[deadlines]\nsilense = 2\n", `job.toml:2: there is no field "silense" in deadlines; the fields are `},                             // too far
		{"[[publish]]\nport = 1\n[[publish]]\nlan = true\nport = \"x\"\n", `job.toml:2: publish.port must be a whole number, not a string`}, // the first of that path
		{"placement = {ranks = 1, x = 2}", `job.toml:1: there is no field "x" in placement`},
		{"[[publish]]\nport = 1\n[[publish]]\nports = 2\n", `job.toml:4: there is no field "ports" in publish; the nearest is port; the fields are lan, port`},
		{"\n[placement]\nranks = \"two\"\n", `job.toml:3: placement.ranks must be a whole number, not a string`},
		{"[deadlines]\nrun_s = \"1h\"\n", `job.toml:2: deadlines.run_s must be a number, not a string`},
		{"[placement]\nbackend = \"mpi\"\n", `job.toml:2: placement.backend must be one of auto, jaccl, jaccl-ring, ring, not "mpi"`},
		{"[placement]\n\nnodes = [\"mac-studio\", \"mini\"]\n", `job.toml:3: placement.nodes: There is no node "mini"`},
		{"[model]\nname = \"m\"\n", `job.toml:2: there is no field "name" in model; the fields are model, revision`},
		{"sharding = \"rows\"\n", `job.toml:1: sharding must be one of tensor, pipeline, not "rows"`},
		{"a = 1\nb = 2\n", "job.toml:1: there is no field \"a\""},
		{"name = \"x\n", "job.toml:1: "},
		{"name = 1\nname = 2\n", "job.toml:2: "},
		{strings.Repeat("[", 100), "job.toml: tables or lists are nested too deeply"},
		{"\xff", "not text in UTF-8"},
		{strings.Repeat("# long\n", 10_000), "more than the 65536 of a job"},
		{"[placement]\nranks = [1]\n", "job.toml:2: placement.ranks must be a whole number, not a list"},
		{"[placement]\nranks = true\n", "job.toml:2: placement.ranks must be a whole number, not true or false"},
		{"program = 3\n", "job.toml:1: program must be a table, not a number"},
		{"\"a,b\" = 3\n", `job.toml:1: there is no field "a,b"`},
	} {
		t.Run(c.want, func(t *testing.T) {
			_, err := Parse("job.toml", c.text, node)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("it says %v, not %q", err, c.want)
			}
		})
	}
}

func TestParseTellsAllProblems(t *testing.T) {
	is := is.New(t)
	_, err := Parse("f", "b = 1\na = 1\n[program]\nc = 1\n", node)
	e, ok := errors.AsType[*Error](err)
	is.True(ok)
	is.Equal(len(e.Problems), 3)
	is.Equal([]int{e.Problems[0].Line, e.Problems[1].Line, e.Problems[2].Line}, []int{1, 2, 4})
}

func FuzzParse(f *testing.F) {
	f.Add(whole)
	f.Add("a.b.\"c d\" = [1, {x = 2}]\n[[publish]]\n")
	f.Add("program = 1979-05-27T07:32:00Z\nname = inf")
	f.Fuzz(func(t *testing.T, text string) {
		request, err := Parse("f", text, node)
		if err != nil {
			e, ok := errors.AsType[*Error](err)
			if !ok || len(e.Problems) == 0 {
				t.Fatalf("an error of another kind: %v", err)
			}
			for _, p := range e.Problems {
				if p.Line < 0 || p.Line > 1+strings.Count(text, "\n") {
					t.Fatalf("line %d of %q", p.Line, text)
				}
			}
			return
		}
		for _, id := range request.Placement.Nodes {
			if !id.Valid() {
				t.Fatalf("%q is no node", id)
			}
		}
	})
}
