package browser

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/testcluster"
)

// guest is a Mac of the world that is no member.
type guest struct {
	mac, scenario, home string
	stage               *testcluster.Stage
	t                   *testing.T
	client              *client.Client
}

// boot starts its daemon, which ends with the world, and connects to it.
func (g *guest) boot(ctx context.Context) (seat, error) {
	if g.client == nil {
		if err := g.start(ctx); err != nil {
			return seat{}, err
		}
	}
	info, err := client.Call[api.DaemonInfoResult](ctx, g.client, "daemon.info", nil)
	return seat{g.mac, info.Node}, err
}

func (g *guest) start(ctx context.Context) error {
	config := filepath.Join(g.home, api.ConfigFile)
	err := errors.Join(os.Mkdir(g.home, 0o700), os.WriteFile(config, []byte("[api]\nport = 0\n"), 0o600))
	if err := errors.Join(err, g.stage.Account.Owns(g.home, config)); err != nil {
		return err
	}
	world := filepath.Join(filepath.Dir(g.home), "desk", "world.sock")
	process := exec.Command(g.stage.Fulmend, "run", "--simulate", g.scenario+":"+g.mac, "--world", world)
	var reported testcluster.Output
	ready := reported.Await("msg=ready")
	g.stage.Account.Runs(process, g.home)
	process.Stdout, process.Stderr = &reported, &reported
	if err := process.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		process.Wait()
		close(ended)
	}()
	g.t.Cleanup(func() {
		process.Process.Kill()
		<-ended
	})
	select {
	case <-ready:
	case <-ended:
		return errors.New("the guest ended: " + reported.End())
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	g.client, err = client.Dial(ctx, client.Options{Addresses: []client.Address{{Socket: filepath.Join(g.home, "run", api.SocketFile)}}})
	return err
}
