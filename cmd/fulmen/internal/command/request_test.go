package command

import (
	"errors"
	"strings"
	"testing"

	"github.com/matryer/is"
	"github.com/spf13/cobra"

	"fulmen/daemon/api"
)

// here is where the requests of the tests are made.
func here(env map[string]string) App {
	return App{Folder: "/home/ada/work", Environment: api.Environment{Home: "/home/ada", Getenv: func(name string) string { return env[name] }}}
}

func threeNodes() []api.NodeView {
	return []api.NodeView{{Node: studio, ShortName: "mac-studio", Self: true}, {Node: mini, ShortName: "mac-mini"}, {Node: book, ShortName: "macbook"}}
}

// requested reads flags as fulmen run does.
func requested(a App, args ...string) (api.JobRequest, map[string]string, error) {
	var w wanted
	var request api.JobRequest
	var values map[string]string
	c := &cobra.Command{Use: "run", Args: cobra.ArbitraryArgs, SilenceErrors: true, SilenceUsage: true, RunE: func(c *cobra.Command, args []string) (err error) {
		w.noteGiven(c)
		if request, values, err = w.request(a, args); err != nil {
			return err
		}
		return w.resolve(&request.Placement, threeNodes())
	}}
	w.flags(c)
	w.streamFlags(c)
	c.Flags().SetInterspersed(false)
	c.SetArgs(args)
	return request, values, errors.Join(c.Execute())
}

func TestRequest(t *testing.T) {
	seconds := func(s float64) *float64 { return &s }
	plain := func(change func(*api.JobRequest)) api.JobRequest {
		r := api.JobRequest{
			Program:   api.Program{Command: []string{"x"}, Directory: "/home/ada/work", Home: "/home/ada", Stdin: api.StdinAll},
			Placement: api.Placement{Ranks: 1, Backend: api.BackendAuto, GPU: api.GPUExclusive},
		}
		change(&r)
		return r
	}
	for _, c := range []struct {
		args   string
		change func(*api.JobRequest)
	}{
		{"x", func(*api.JobRequest) {}},
		{"x -n 3", func(r *api.JobRequest) { r.Program.Command = []string{"x", "-n", "3"} }},
		{"-n 4 -- x", func(r *api.JobRequest) { r.Placement.Ranks = 4 }},
		{"--nodes mac-studio,mac-mini x", func(r *api.JobRequest) { r.Placement.Ranks, r.Placement.Nodes = 2, []api.NodeID{studio, mini} }},
		{"-n 3 --nodes macbook --exclude mac-mini --rank0 here x", func(r *api.JobRequest) {
			r.Placement.Ranks, r.Placement.Nodes, r.Placement.ExcludedNodes, r.Placement.Rank0 = 3, []api.NodeID{book}, []api.NodeID{mini}, studio
		}},
		{"--rank0 AXWF-K1 x", func(r *api.JobRequest) { r.Placement.Rank0 = mini }},
		{"--rank0 macb x", func(r *api.JobRequest) { r.Placement.Rank0 = book }},
		{"--min-nodes 2 x", func(r *api.JobRequest) {
			r.Placement.Ranks, r.Placement.MinNodes, r.Placement.MaxNodes = 0, 2, 3
		}},
		{"--nodes 2..4 x", func(r *api.JobRequest) {
			r.Placement.Ranks, r.Placement.MinNodes, r.Placement.MaxNodes, r.Placement.Widest = 0, 2, 4, true
		}},
		{"--nodes ..,mac-mini x", func(r *api.JobRequest) {
			r.Placement.Ranks, r.Placement.MinNodes, r.Placement.MaxNodes, r.Placement.Widest, r.Placement.Nodes = 0, 1, 3, true, []api.NodeID{mini}
		}},
		{"--max-nodes 2 x", func(r *api.JobRequest) {
			r.Placement.Ranks, r.Placement.MinNodes, r.Placement.MaxNodes = 0, 1, 2
		}},
		{"--ranks-per-node 2 x", func(r *api.JobRequest) { r.Placement.Ranks, r.Placement.RanksPerNode = 2, 2 }},
		{"--ranks-per-node 2 --nodes mac-studio,mac-mini x", func(r *api.JobRequest) {
			r.Placement.Ranks, r.Placement.RanksPerNode, r.Placement.Nodes = 4, 2, []api.NodeID{studio, mini}
		}},
		{"-n 8 --ranks-per-node 4 --backend ring x", func(r *api.JobRequest) {
			r.Placement.Ranks, r.Placement.RanksPerNode, r.Placement.Backend = 8, 4, api.BackendRing
		}},
		{"--backend jaccl-ring --memory 24GiB --gpu shared --network en0 --network 10.0.0.0/24 x", func(r *api.JobRequest) {
			p := &r.Placement
			p.Backend, p.MemoryBytes, p.GPU, p.Networks = api.BackendJACCLRing, 24<<30, api.GPUShared, []string{"en0", "10.0.0.0/24"}
		}},
		{"--per-node memory --memory 1GiB x", func(r *api.JobRequest) {
			r.Placement.ShareBy, r.Placement.MemoryBytes = api.ShareByMemory, 1<<30
		}},
		{"--model org/m x --model={model}", func(r *api.JobRequest) {
			r.Program.Command, r.Model = []string{"x", "--model={model}"}, api.ModelSelect{Model: "org/m"}
			r.Placement.Ranks, r.Placement.MinNodes, r.Placement.MaxNodes = 0, 1, 3
		}},
		{"--model org/m --revision main --sharding pipeline -n 2 x", func(r *api.JobRequest) {
			r.Model, r.Sharding, r.Placement.Ranks = api.ModelSelect{Model: "org/m", Revision: "main"}, api.ShardingPipeline, 2
		}},
		{"--env A=1=2 -e B= --env A=3 x", func(r *api.JobRequest) { r.Program.Variables = []string{"A", "B"} }},
		{"--env HF_TOKEN x", func(r *api.JobRequest) { r.Program.Variables = []string{"HF_TOKEN"} }},
		{"--venv .venv --cwd sub x", func(r *api.JobRequest) {
			r.Program.Environment, r.Program.Directory = "/home/ada/work/.venv", "/home/ada/work/sub"
		}},
		{"--python python3.13 --cwd ~/x x", func(r *api.JobRequest) { r.Program.Interpreter, r.Program.Directory = "python3.13", "/home/ada/x" }},
		{"--interpreter bin/py x", func(r *api.JobRequest) { r.Program.Interpreter = "/home/ada/work/bin/py" }},
		{"--sync --prepare uv --prepare-input uv.lock x", func(r *api.JobRequest) {
			r.Program.Sync, r.Program.Prepare, r.Program.PrepareInputs = true, []string{"/bin/sh", "-c", "uv"}, []string{"uv.lock"}
		}},
		{"--stdin 0 x", func(r *api.JobRequest) { r.Program.Stdin = api.StdinRank0 }},
		{"--stdin none x", func(r *api.JobRequest) { r.Program.Stdin = api.StdinNone }},
		{"-t x", func(r *api.JobRequest) { r.Program.Stdin, r.Program.Terminal = api.StdinRank0, true }},
		{"-d x", func(r *api.JobRequest) { r.Program.Stdin, r.Detached = api.StdinNone, true }},
		{"--startup-probe 80/health --readiness-probe 80 --liveness-probe exec:./check x", func(r *api.JobRequest) {
			r.Probes = &api.Probes{Startup: &api.Probe{Port: 80, Path: "/health"}, Readiness: &api.Probe{Port: 80}, Liveness: &api.Probe{Command: []string{"./check"}}}
		}},
		{"--publish 8080 --publish lan:8081 x", func(r *api.JobRequest) { r.Publish = []api.Publish{{Port: 8080}, {Port: 8081, LAN: true}} }},
		{"--retries 2 --max-attempts 1 --allow-mixed --allow-solo --keep-output x", func(r *api.JobRequest) {
			r.Retries, r.MaxAttempts, r.AllowMixed, r.AllowSolo, r.Output = 2, 1, true, true, api.OutputKeep
		}},
		{"--deadline-placing 1m --deadline-preparing 1h --deadline-starting 2s --deadline-handshake 3s --deadline-run 4s --deadline-silence 500ms --grace 0s x", func(r *api.JobRequest) {
			r.Deadlines = api.Deadlines{PlacingS: seconds(60), PreparingS: seconds(3600), StartingS: seconds(2), HandshakeS: seconds(3), RunS: seconds(4), SilenceS: seconds(0.5), GraceS: seconds(0)}
		}},
		{"--label a=b=c --label d= --name n --request-id r x", func(r *api.JobRequest) {
			r.Labels, r.Name, r.RequestID = map[string]string{"a": "b=c", "d": ""}, "n", "r"
		}},
	} {
		t.Run(c.args, func(t *testing.T) {
			is := is.New(t)
			got, _, err := requested(here(map[string]string{"HF_TOKEN": "t"}), strings.Fields(c.args)...)
			is.NoErr(err)
			is.Equal(got, plain(c.change))
		})
	}
}

func TestRequestValuesAndEnvironments(t *testing.T) {
	is := is.New(t)
	_, values, err := requested(here(map[string]string{"HF_TOKEN": "secret"}), "--env", "HF_TOKEN", "--env", "A=1=2", "--env", "B=", "x")
	is.NoErr(err)
	is.Equal(values, map[string]string{"HF_TOKEN": "secret", "A": "1=2", "B": ""})
	for _, c := range []struct {
		env  map[string]string
		args string
		want string
	}{
		{map[string]string{"VIRTUAL_ENV": "/v", "CONDA_PREFIX": "/c"}, "x", "/v"},
		{map[string]string{"CONDA_PREFIX": "/c/"}, "x", "/c"},
		{map[string]string{"VIRTUAL_ENV": "relative"}, "x", ""},
		{map[string]string{"VIRTUAL_ENV": "/v"}, "--python python3 x", ""}, // one interpreter was named
		{map[string]string{"VIRTUAL_ENV": "/v"}, "--venv= x", ""},
		{map[string]string{"VIRTUAL_ENV": "/v"}, "--venv /w x", "/w"},
	} {
		got, _, err := requested(here(c.env), strings.Fields(c.args)...)
		is.NoErr(err)
		is.Equal(got.Program.Environment, c.want)
	}
}

func TestRequestThatMakesNoSense(t *testing.T) {
	for args, want := range map[string]string{
		"--backend mpi x":                    "auto, jaccl, jaccl-ring, ring",
		"--gpu half x":                       "exclusive, shared, none",
		"--stdin 1 x":                        "all, 0, none",
		"-n -1 x":                            "cannot be negative",
		"-n 2 --min-nodes 2 x":               "use one or the other",
		"--min-nodes 3 --max-nodes 2 x":      "more than --max-nodes",
		"--nodes 4..2 x":                     "ends before it begins",
		"--nodes 0..0 x":                     "ends before it begins",
		"--nodes 2..,3.. x":                  "use it once",
		"-n 2 --nodes 2..4 x":                "without --ranks",
		"-n 1 --nodes mac-studio,mac-mini x": "--nodes names 2 nodes",
		"--ranks-per-node 0 x":               "--ranks-per-node must be 1 to 32",
		"--ranks-per-node 33 x":              "--ranks-per-node must be 1 to 32",
		"-n 3 --ranks-per-node 2 x":          "--ranks is 3, which --ranks-per-node 2 does not divide",
		"-n 2 --ranks-per-node 2 --nodes mac-studio,mac-mini x": "--nodes names 2 nodes, which must all be used, but --ranks is 2, for 1",
		"--ranks-per-node 2 --backend jaccl x":                  "use --backend ring with --ranks-per-node",
		"--memory lots x":                                       "24GiB",
		"--revision main x":                                     "name it with --model",
		"--sharding tensor x":                                   "name it with --model",
		"--model m --sharding rows x":                           "--sharding must be one of tensor, pipeline",
		"--env 1A=2 x":                                          "NAME or NAME=VALUE",
		"--env NOT_SET x":                                       "NOT_SET is not set here",
		"--startup-probe health x":                              "8080/health",
		"--startup-probe exec: x":                               "exec:./check",
		"--publish http x":                                      "PORT or lan:PORT",
		"--publish 70000 x":                                     "from 1 to 65535",
		"--label a x":                                           "KEY=VALUE",
		"--max-attempts 65 x":                                   "1 to 64",
		"--deadline-run -1s x":                                  "--deadline-run must be a length of time",
		"-d --stdin all x":                                      "use --stdin none with --detach",
		"-d -t x":                                               "contradict",
		"-n 2 -t --stdin all x":                                 "use --stdin 0 with --tty",
		"--nodes mac x":                                         "Several nodes have a name or id that begins with \"mac\"",
		"--nodes nobody x":                                      "There is no node called \"nobody\"",
		"--rank0 csm7nbfrcayqev4f --exclude x x":                "There is no node called \"x\"",
		"--per-node speed x":                                    "--per-node must be one of memory",
	} {
		t.Run(args, func(t *testing.T) {
			is := is.New(t)
			_, _, err := requested(here(nil), strings.Fields(args)...)
			is.True(err != nil)
			if !strings.Contains(err.Error(), want) {
				t.Errorf("it says %q, not %q", err, want)
			}
			is.Equal(errors.As(err, &withStatus{}), !strings.Contains(want, "node") || strings.Contains(want, "--"))
		})
	}
}

func TestWhoHasTheTerminal(t *testing.T) {
	for _, c := range []struct {
		args     string
		in, out  bool
		terminal bool
		stdin    api.StdinTarget
	}{
		{"x", true, true, true, api.StdinRank0},
		{"x", true, false, false, api.StdinAll},
		{"x", false, true, false, api.StdinAll},
		{"-n 2 x", true, true, false, api.StdinAll},
		{"-n 2 --stdin 0 x", true, true, true, api.StdinRank0},
		{"--stdin none x", true, true, false, api.StdinNone},
		{"--tty=false x", true, true, false, api.StdinAll},
		{"-n 2 -t x", false, false, true, api.StdinRank0},
		{"-d x", true, true, false, api.StdinNone},
	} {
		t.Run(c.args, func(t *testing.T) {
			is := is.New(t)
			a := here(nil)
			a.InTerminal, a.Screen = c.in, c.out
			got, _, err := requested(a, strings.Fields(c.args)...)
			is.NoErr(err)
			is.Equal(got.Program.Terminal, c.terminal)
			is.Equal(got.Program.Stdin, c.stdin)
		})
	}
}

func TestParseSize(t *testing.T) {
	is := is.New(t)
	for word, want := range map[string]int64{"1": 1, "24GiB": 24 << 30, "24 GiB": 24 << 30, "1.5g": 3 << 29, "8GB": 8e9, "512MiB": 512 << 20, "2T": 2 << 40, "7b": 7} {
		got, err := parseSize(word)
		is.NoErr(err)
		is.Equal(got, want)
	}
	for _, word := range []string{"", "0", "-1", "x", "1XB", "GiB", "1e30", "NaN", "inf", "1GiBG"} {
		_, err := parseSize(word)
		is.True(err != nil)
	}
}

func FuzzParseSize(f *testing.F) {
	f.Add("24GiB")
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := parseSize(s); err == nil && n < 0 {
			t.Fatalf("%q is %d", s, n)
		}
	})
}

func TestMeantJob(t *testing.T) {
	jobs := []api.JobSummary{{Job: "j4k2m9xq7"}, {Job: "j4k3aaaaa"}, {Job: "jzzzzzzz1"}}
	for word, want := range map[string]string{"j4k2": "j4k2m9xq7", "JZ": "jzzzzzzz1", "j4k2m9xq": "j4k2m9xq7", "j4": "Several jobs begin with", "": "There is no job", "k": "There is no job", "jzzzzzzzl": "jzzzzzzz1"} {
		t.Run(word, func(t *testing.T) {
			got, err := meantJob(word, jobs)
			if string(got) != want && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("it is %q, %v", got, err)
			}
		})
	}
}
