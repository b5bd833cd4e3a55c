package jobfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// Fulmen's own engines are jobs that serve at a port, with the arguments of their sharding.
func TestEnginesOfFulmen(t *testing.T) {
	is := is.New(t)
	is.Equal(Engines(t.TempDir()), []string{api.DefaultEngine})
	for _, name := range Engines("") {
		r, err := Engine(name, t.TempDir())
		is.NoErr(err)
		tensor, pipeline := r, r
		Serve(&tensor, 8081, api.ShardingTensor)
		is.Equal(tensor.Publish, []api.Publish{{Port: 8081}})
		probes := 0
		for _, p := range tensor.Probes.All() {
			is.Equal(p.Port, 8081)
			probes++
		}
		is.True(probes > 0)
		is.True(strings.Contains(strings.Join(tensor.Program.Command, " "), "8081"))
		Serve(&pipeline, 8081, api.ShardingPipeline)
		is.Equal(pipeline.Program.Command, append(tensor.Program.Command[:len(tensor.Program.Command):len(tensor.Program.Command)], "--pipeline"))
	}
}

// The examples are engines.
func TestExamples(t *testing.T) {
	is := is.New(t)
	files, err := filepath.Glob("examples/*.toml")
	is.NoErr(err)
	is.Equal(len(files), 2)
	for _, file := range files {
		text, err := os.ReadFile(file)
		is.NoErr(err)
		engine, err := ParseEngine(file, string(text))
		is.NoErr(err)
		r := Instance(api.InstanceSpec{Name: "m", Model: api.ModelSelect{Model: "org/m"}, Engine: "e"}, engine)
		Serve(&r, 8081, api.ShardingTensor)
		is.Equal(r.Placement.Ranks, 1)
		is.True(strings.Contains(strings.Join(r.Program.Command, " "), "--model {model}") && strings.Contains(strings.Join(r.Program.Command, " "), "--port 8081"))
		is.True(r.Probes.Startup.Port == 8081 && r.Probes.Readiness.Port == 8081)
	}
}

// One of a person's own takes the place of Fulmen's, and what is wrong with it has its line.
func TestEnginesOfOnesOwn(t *testing.T) {
	is := is.New(t)
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name+".toml")
		is.NoErr(os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	write(api.DefaultEngine, "[program]\ncommand = [\"own\", \"{tensor}--tp\", \"--listen=:{port}\"]\n")
	path := write("other", "allow_solo = true\n[program]\ncommand = [\"other\"]\n[probes.liveness]\nport = 9\npath = \"/live\"\n[[publish]]\nport = 7\n")
	is.Equal(Engines(folder), []string{api.DefaultEngine, "other"})
	r, err := Engine(api.DefaultEngine, folder)
	is.NoErr(err)
	Serve(&r, 80, api.ShardingTensor)
	is.Equal(r.Program.Command, []string{"own", "--tp", "--listen=:80"})
	is.Equal(*r.Probes.Readiness, api.Probe{Port: 80})
	text, err := os.ReadFile(path)
	is.NoErr(err)
	for _, read := range []func() (api.JobRequest, error){
		func() (api.JobRequest, error) { return Engine("other", folder) },
		func() (api.JobRequest, error) { return ParseEngine("other", string(text)) },
	} {
		r, err = read()
		is.NoErr(err)
		Serve(&r, 80, api.ShardingTensor)
		is.Equal(r.Program.Command, []string{"other"})
		is.Equal(*r.Probes.Liveness, api.Probe{Port: 9, Path: "/live"})
		is.Equal(r.Publish, []api.Publish{{Port: 80}, {Port: 7}})
	}
	for text, want := range map[string]string{
		"[program]\ncommand = [\"x\"]\n[probes.alive]\nport = 1\n":     "bad.toml:3: there is no field \"alive\" in probes",
		"[program]\ncommand = 7\n":                                     "bad.toml:2: program.command must be a list",
		"[program]\ndirectory = \"/\"\n":                               "bad.toml: program.command is missing",
		"[program]\ncommand = [\"x\"]\n[placement]\nnodes = [\"a\"]\n": "an engine names no Macs",
	} {
		write("bad", text)
		_, err := Engine("bad", folder)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, and not %q", err, want)
		}
	}
	_, err = Engine("none", folder)
	is.True(strings.Contains(api.AsError(err).Data.Remedy, "bad, mlx_lm.server, other"))
	for _, name := range []string{"../other", folder + "/other", "a/b", ""} {
		_, err = Engine(name, folder)
		is.Equal(api.AsError(err).Data.Reason, api.ReasonBadValue)
	}
}

// What an instance declares goes to its job, and what its engine says stays.
func TestInstance(t *testing.T) {
	is := is.New(t)
	engine, err := ParseEngine("own.toml", "allow_solo = true\nretries = 3\n[program]\ncommand = [\"own\"]\nvariables = [\"A\"]\n[placement]\nbackend = \"ring\"\n[deadlines]\nstarting_s = 7\n")
	is.NoErr(err)
	r := Instance(api.InstanceSpec{
		Name: "n", Model: api.ModelSelect{Model: "org/m"}, Engine: "own", Sharding: api.ShardingPipeline, MinNodes: 2, MemoryBytes: 5,
		Environment: "/v", Home: "/home/ada", Variables: []string{"A", "B"}, Networks: []string{"en0"},
	}, engine)
	is.True(r.Kept && r.FetchModel && r.Detached && r.AllowSolo)
	is.Equal(r.Name, "n")
	is.Equal(r.Model.Model, "org/m")
	is.Equal(r.Sharding, api.ShardingPipeline)
	is.Equal(r.Labels, map[string]string{api.LabelEngine: "own"})
	is.Equal(r.Placement, api.Placement{MinNodes: 2, MemoryBytes: 5, Networks: []string{"en0"}, Backend: api.BackendRing})
	is.Equal(r.Program.Variables, []string{"A", "B"})
	is.Equal(r.Program.Environment+r.Program.Home, "/v/home/ada")
	is.Equal(*r.Deadlines.StartingS, 7.0)
	is.Equal(engine.Program.Variables, []string{"A"})
	r = Instance(api.InstanceSpec{Ranks: 3, Backend: api.BackendJACCL}, engine)
	is.Equal(r.Placement, api.Placement{Ranks: 3, Backend: api.BackendJACCL})
}
