package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"fulmen/cmd/fulmen-rank/internal/collective"
	"fulmen/cmd/fulmen-rank/internal/gpu"
	"fulmen/cmd/fulmen-rank/internal/machine"
	"fulmen/daemon/api/worker"
	"fulmen/mlxbridge"
)

// errHelp says that help was asked for, and given.
var errHelp = errors.New("help")

// request is what the command line asks for.
type request struct {
	command  worker.Command
	deadline time.Duration
	// toOutput has messages go to standard output where there is no descriptor 3.
	toOutput bool
	// run does it and gives the result.
	run func(ctx context.Context, reporter *Reporter) (any, error)
}

const usage = `fulmen-rank does one thing with MLX and ends.

  fulmen-rank info        what MLX finds on this machine
  fulmen-rank gpu         measure matrix products and memory bandwidth
  fulmen-rank hello       join the group and list its ranks
  fulmen-rank allreduce   measure all_sum over the group, by size of message
  fulmen-rank sendrecv    measure messages between ranks 0 and 1

fulmen-rank COMMAND -h lists the flags of a command. A group is described by the
environment as MLX wants it: MLX_RANK, and MLX_HOSTFILE or MLX_IBV_DEVICES.
`

// parse reads a command line.
func parse(args []string) (request, error) {
	if len(args) == 0 || args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		fmt.Fprint(os.Stderr, usage)
		if len(args) == 0 {
			return request{}, wrongUsage("no command given", "choose one of "+choices())
		}
		return request{}, errHelp
	}
	r := request{command: worker.Command(args[0])}
	flags := flag.NewFlagSet("fulmen-rank "+args[0], flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.DurationVar(&r.deadline, "deadline", 10*time.Minute, "end with an error after this long")
	messages := flags.String("messages", "", "stdout: progress and result as JSON Lines on standard output, if descriptor 3 is not open")
	check := func() error { return nil }
	switch r.command {
	case worker.CommandInfo:
		r.run = func(context.Context, *Reporter) (any, error) { return machine.Info() }
	case worker.CommandGPU:
		check = r.gpu(flags)
	case worker.CommandHello, worker.CommandAllReduce, worker.CommandSendRecv:
		check = r.group(flags)
	default:
		return request{}, wrongUsage(fmt.Sprintf("there is no command %q", args[0]), "choose one of "+choices())
	}
	err := flags.Parse(args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(os.Stderr)
		flags.Usage()
		return request{}, errHelp
	case err != nil:
		return r, wrongUsage(err.Error(), fmt.Sprintf("fulmen-rank %s -h lists the flags", r.command))
	case flags.NArg() > 0:
		return r, wrongUsage(fmt.Sprintf("%q follows the command, which takes flags only", flags.Arg(0)), "")
	case r.deadline <= 0:
		return r, wrongUsage(fmt.Sprintf("-deadline is %v", r.deadline), "give more than 0, such as 5m")
	case *messages != "" && *messages != "stdout":
		return r, wrongUsage(fmt.Sprintf("-messages is %q", *messages), "leave it out, or give stdout")
	}
	r.toOutput = *messages != ""
	return r, check()
}

// gpu adds the flags of the measurement of a device.
func (r *request) gpu(flags *flag.FlagSet) (check func() error) {
	total := flags.Duration("time", 10*time.Second, "how long to measure, about")
	kind := flags.String("device", "", "gpu or cpu; MLX's own choice where not given")
	r.run = func(ctx context.Context, reporter *Reporter) (any, error) {
		device, err := choose(*kind)
		if err != nil {
			return nil, err
		}
		return gpu.Measure(ctx, device, *total, reporter.Progress)
	}
	return func() error {
		if *total < 100*time.Millisecond || *total > time.Hour {
			return wrongUsage(fmt.Sprintf("-time is %v", *total), "give 100ms to 1h")
		}
		if *kind != "" && *kind != "gpu" && *kind != "cpu" {
			return wrongUsage(fmt.Sprintf("-device is %q", *kind), "choose gpu or cpu")
		}
		return nil
	}
}

// choose finds the device of a kind, the default one where none is named.
func choose(kind string) (mlxbridge.Device, error) {
	if kind == "" {
		return mlxbridge.DefaultDevice()
	}
	all, err := mlxbridge.Devices()
	for _, device := range all {
		if string(device.Type) == kind {
			return device, nil
		}
	}
	if err != nil {
		return mlxbridge.Device{}, err
	}
	return mlxbridge.Device{}, &worker.Error{
		Reason: worker.ReasonNoDevice, Message: "MLX finds no " + kind + " on this machine", Remedy: "fulmen-rank info lists what it finds",
	}
}

// group adds the flags of what a group does.
func (r *request) group(flags *flag.FlagSet) (check func() error) {
	command, least := r.command, 2
	if command == worker.CommandHello {
		least = 1
	}
	var o collective.Options
	flags.StringVar(&o.Backend, "backend", "any", "ring, jaccl, nccl, mpi or any")
	flags.StringVar(&o.DType, "dtype", "float32", "float32, float16 or bfloat16")
	flags.Uint64Var(&o.MinBytes, "min-bytes", 1<<10, "the smallest message")
	flags.Uint64Var(&o.MaxBytes, "max-bytes", 64<<20, "the largest message; sizes double up to it")
	flags.DurationVar(&o.PerSize, "per-size", 500*time.Millisecond, "how long to time each size, about")
	wait := flags.Duration("wait", time.Minute, "how long to wait for the other ranks")
	r.run = func(ctx context.Context, reporter *Reporter) (any, error) {
		reporter.Progress("waiting for the other ranks", 0)
		g, err := collective.Join(ctx, o.Backend, *wait, least)
		if err != nil {
			return nil, err
		}
		result, err := carry(g, command, o, reporter.Progress)
		if err != nil {
			// A failed group is not left in order: that would wait for ranks
			// that may be gone.
			return nil, err
		}
		g.Close()
		return result, nil
	}
	return func() error {
		if *wait <= 0 {
			return wrongUsage(fmt.Sprintf("-wait is %v", *wait), "give more than 0, such as 30s")
		}
		return o.Check()
	}
}

// carry does a group's command.
func carry(g *collective.Group, command worker.Command, o collective.Options, progress collective.Progress) (any, error) {
	switch command {
	case worker.CommandAllReduce:
		return g.AllReduce(o, progress)
	case worker.CommandSendRecv:
		return g.SendRecv(o, progress)
	default:
		return g.Hello(o.Backend)
	}
}

func wrongUsage(message, remedy string) error {
	return &worker.Error{Reason: worker.ReasonUsage, Message: message, Remedy: remedy}
}

// choices lists the commands.
func choices() string {
	var names []string
	for _, command := range worker.Commands() {
		names = append(names, string(command))
	}
	return strings.Join(names, ", ")
}
