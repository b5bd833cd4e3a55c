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
	is.Equal(Engines(t.TempDir()), []string{DefaultEngine})
	for _, name := range Engines("") {
		r, err := Engine(name, t.TempDir())
		is.NoErr(err)
		tensor, pipeline := r, r
		Serve(&tensor, 8081, api.ShardingTensor)
		is.Equal(tensor.Publish, []api.Publish{{Port: 8081}})
		for _, p := range tensor.Probes.All() {
			is.Equal(p.Port, 8081)
		}
		is.True(len(tensor.Probes.All()) > 0)
		is.True(strings.Contains(strings.Join(tensor.Program.Command, " "), "8081"))
		Serve(&pipeline, 8081, api.ShardingPipeline)
		is.Equal(pipeline.Program.Command, append(tensor.Program.Command[:len(tensor.Program.Command):len(tensor.Program.Command)], "--pipeline"))
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
	write(DefaultEngine, "[program]\ncommand = [\"own\", \"{tensor}--tp\", \"--listen=:{port}\"]\n")
	path := write("other", "allow_solo = true\n[program]\ncommand = [\"other\"]\n[probes.liveness]\nport = 9\npath = \"/live\"\n[[publish]]\nport = 7\n")
	is.Equal(Engines(folder), []string{DefaultEngine, "other"})
	r, err := Engine(DefaultEngine, folder)
	is.NoErr(err)
	Serve(&r, 80, api.ShardingTensor)
	is.Equal(r.Program.Command, []string{"own", "--tp", "--listen=:80"})
	is.Equal(*r.Probes.Readiness, api.Probe{Port: 80})
	for _, name := range []string{"other", path} {
		r, err = Engine(name, folder)
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
	_, err = Engine(folder+"/none.toml", "")
	is.True(strings.Contains(err.Error(), "cannot be read"))
}
