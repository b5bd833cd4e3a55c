package daemon

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/signal"
	"syscall"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/home"
	"fulmen/daemon/internal/model/hub"
	"fulmen/daemon/internal/model/inventory"
	"fulmen/daemon/internal/model/transfer"
	"fulmen/daemon/internal/rank/files/pack"
	"fulmen/daemon/internal/rank/files/unpack"
	"fulmen/daemon/internal/rdma"
	"fulmen/daemon/internal/simulate"
	"fulmen/daemon/internal/uninstall"
	"fulmen/native"
)

// What programs do with the parts of the daemon, and without one.

// Simulation is the simulated Mac that a daemon runs on. Everything that the
// daemon says of it says that it is simulated; jobs run on the real machine below.
// Its measurements are those that the scenario records, but for one of the
// loopback interface of the machine below.
type Simulation = simulate.Simulation

// OpenSimulation makes the world of a scenario for one of its Macs, as [simulate.Open]
// says.
func OpenSimulation(text string) (*Simulation, error) { return simulate.Open(text) }

// JoinSimulation takes a Mac of the world that another process hosts, as
// [simulate.Join] says.
func JoinSimulation(ctx context.Context, text, socket string) (*Simulation, error) {
	return simulate.Join(ctx, text, socket)
}

// Drawing is a whole cluster as screens draw it.
type Drawing = simulate.Drawing

// DrawScenario builds the graph of all Macs of a scenario in this process, as
// [simulate.Draw] says.
func DrawScenario(name, version string) (Drawing, error) { return simulate.Draw(name, version) }

// Pack sends a folder over the two streams, with the rights of this process and no
// others. It is the whole of a process of its own, which a daemon starts and
// gives its task over in.
func Pack(in io.Reader, out io.Writer) error {
	// A receiver that is gone is an error like any other.
	signal.Ignore(syscall.SIGPIPE)
	clock, err := native.SystemClock()
	if err != nil {
		return err
	}
	return pack.Run(in, out, clock)
}

// Unpack receives a folder over the two streams, with the rights of this process
// and no others, and says on descriptor 3 how it goes. It is the whole of a
// process of its own, which a daemon starts and gives its task over in.
func Unpack(in io.Reader, out io.Writer) error {
	signal.Ignore(syscall.SIGPIPE)
	clock, err := native.SystemClock()
	if err != nil {
		return err
	}
	reports := os.NewFile(3, "reports")
	defer reports.Close()
	return unpack.Run(in, out, reports, clock)
}

// ReadModels answers over the two streams which models an account has, with the rights of
// this process and no others. It is the whole of a process of its own, which a daemon
// starts and asks.
func ReadModels(in io.Reader, out io.Writer) error {
	signal.Ignore(syscall.SIGPIPE)
	return inventory.Serve(in, out)
}

// SendModel sends a model over the two streams, with the rights of this process and no
// others. It is the whole of a process of its own, which a daemon starts and gives its
// task over in.
func SendModel(in io.Reader, out io.Writer) error {
	signal.Ignore(syscall.SIGPIPE)
	return transfer.Send(in, out)
}

// ReceiveModel receives a model, as [Unpack] does a folder.
func ReceiveModel(in io.Reader, out io.Writer) error {
	signal.Ignore(syscall.SIGPIPE)
	reports := os.NewFile(3, "reports")
	defer reports.Close()
	return transfer.Receive(in, out, reports)
}

// GetModel gets a model from Hugging Face, with the rights of this process and no others.
func GetModel(in io.Reader, _ io.Writer) error {
	signal.Ignore(syscall.SIGPIPE)
	reports := os.NewFile(3, "reports")
	defer reports.Close()
	return hub.Get(in, reports)
}

// Install has launchd or systemd start the daemon, that of the account or, as root, of
// the machine; without write it only says how. It writes one JSON object, an install
// plan.
func Install(ctx context.Context, isSystem, write bool, out io.Writer) error {
	environment := home.Process()
	uid := environment.UID
	if isSystem {
		environment.UID = 0
	}
	o, err := uninstallHere(environment)
	if err != nil {
		return err
	}
	o.UID = uid
	plan, err := uninstall.Install(ctx, o, write)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(plan)
}

// Uninstall says what Fulmen has left on this machine and what would become of it,
// or, where it is to be removed, takes it away. It writes one JSON object: an
// uninstall plan, or what has become of it. No daemon runs meanwhile, or it ends
// with the service that keeps it.
func Uninstall(ctx context.Context, remove, deleteOutput bool, out io.Writer) error {
	o, err := uninstallHere(home.Process())
	if err == nil {
		err = o.CheckOwner()
	}
	if err != nil {
		return err
	}
	plan := uninstall.List(o, deleteOutput)
	if !remove {
		return json.NewEncoder(out).Encode(plan)
	}
	result, err := uninstall.Remove(ctx, o, plan)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(result)
}

// uninstallHere is what is installed or uninstalled by somebody in an environment.
func uninstallHere(environment api.Environment) (uninstall.Options, error) {
	return uninstall.Here(environment, func(path string) int { return rdma.UndoFile{Path: path}.Open() }, systemPlatform)
}
