package proc

import (
	"os"
	"syscall"
)

// process is a started worker and this side's ends of its pipes.
type process struct {
	*os.Process
	watch                    endWatch
	life                     *os.File // its standard input: never written, its end is the sign
	messages, stdout, stderr *os.File
}

// refused is the error of Command.Check.
type refused struct{ error }

func (r refused) Unwrap() error { return r.error }

// start starts the worker. On an error nothing is left open.
func start(c Command) (_ *process, err error) {
	if c.Check != nil {
		if err := c.Check(c.Path); err != nil {
			return nil, refused{err}
		}
	}
	var ours, theirs [4]*os.File
	defer func() {
		closeAll(theirs[:])
		if err != nil {
			closeAll(ours[:])
		}
	}()
	for i := range ours {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		// Descriptor 0 is read there, the others are written.
		if ours[i], theirs[i] = r, w; i == 0 {
			ours[i], theirs[i] = w, r
		}
	}
	watch, err := newEndWatch()
	if err != nil {
		return nil, err
	}
	child, err := os.StartProcess(c.Path, append([]string{c.Path}, c.Args...), &os.ProcAttr{
		Dir:   c.Dir,
		Env:   append([]string{}, c.Env...), // nil would mean this process's own
		Files: theirs[:],
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		watch.free()
		return nil, err
	}
	return &process{Process: child, watch: watch, life: ours[0], stdout: ours[1], stderr: ours[2], messages: ours[3]}, nil
}

// signal sends to every process of the worker's group. It must not be used
// once the worker has been reaped: the number may then be somebody else's.
func (p *process) signal(s syscall.Signal) { _ = syscall.Kill(-p.Pid, s) }

func (p *process) close() { closeAll([]*os.File{p.life, p.messages, p.stdout, p.stderr}) }

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
