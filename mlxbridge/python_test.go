package mlxbridge

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"
)

// python is an interpreter that can import the MLX that this is built with.
func python(t *testing.T) (interpreter string, env []string) {
	t.Helper()
	build, err := filepath.Abs("../build")
	if err != nil {
		t.Fatal(err)
	}
	interpreter = os.Getenv("FULMEN_PYTHON")
	if interpreter == "" {
		interpreter = filepath.Join(build, "tools", "bin", "python3")
		if _, err := os.Stat(interpreter); err != nil {
			interpreter = "python3"
		}
	}
	env = append(os.Environ(), "PYTHONPATH="+filepath.Join(build, "mlx", "current"))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, interpreter, "-c", "import mlx.core as mx; mx.eval(mx.zeros((1,)))")
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("%s cannot import MLX, so nothing is compared with it (FULMEN_PYTHON names another): %v\n%s", interpreter, err, out)
	}
	return interpreter, env
}

func TestOpsAgainstPython(t *testing.T) {
	is := is.New(t)
	interpreter, env := python(t)
	cases := opCases()
	request, err := json.Marshal(cases)
	is.NoErr(err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, interpreter, "testdata/ops.py")
	cmd.Env = env
	cmd.Stdin = bytes.NewReader(request)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	is.NoErr(err)
	var reply struct {
		Version string   `json:"version"`
		Results []tensor `json:"results"`
	}
	is.NoErr(json.Unmarshal(out, &reply))
	is.Equal(reply.Version, Version())
	is.Equal(len(reply.Results), len(cases))

	sc := cpuScope(t)
	for i, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			is := is.New(t)
			a, err := c.run(sc)
			is.NoErr(err)
			got, err := download(a)
			is.NoErr(err)
			is.NoErr(equalTensors(got, reply.Results[i]))
		})
	}
}
