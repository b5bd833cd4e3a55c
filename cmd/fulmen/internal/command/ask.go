package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// maxLine bounds what is read as one line: the longest invitation, and a lot more.
const maxLine = 16 << 10

// line reads a line of the input, without spaces around it. It stops to wait
// when the context ends; what is typed after that goes nowhere.
func (r *run) line(ctx context.Context) (string, error) {
	return await(ctx, func() (string, error) { return readLine(r.In) })
}

// await waits for a reader that nothing can interrupt, or for the context.
func await(ctx context.Context, read func() (string, error)) (string, error) {
	type outcome struct {
		line string
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		line, err := read()
		done <- outcome{strings.TrimSpace(line), err}
	}()
	select {
	case o := <-done:
		return o.line, o.err
	case <-ctx.Done():
		return "", api.Errorf(api.ReasonCancelled, "", "Cancelled; nothing was changed.")
	}
}

// readLine reads no byte more than the line has: what follows it is for whoever
// reads next. The end of the input ends a line too.
func readLine(in io.Reader) (string, error) {
	var line []byte
	for one := make([]byte, 1); len(line) < maxLine; {
		n, err := in.Read(one)
		switch {
		case n > 0 && one[0] == '\n':
			return string(line), nil
		case n > 0:
			line = append(line, one[0])
		case errors.Is(err, io.EOF) && len(line) > 0:
			return string(line), nil
		case err != nil:
			return "", err
		}
	}
	return "", fmt.Errorf("the line is longer than %d bytes", maxLine)
}

// question asks something on the terminal and reads the answer.
func (r *run) question(ctx context.Context, words string) (string, error) {
	fmt.Fprint(r.Err, words)
	return r.line(ctx)
}

// confirm asks something that is answered with yes or no; no answer is no.
func (r *run) confirm(ctx context.Context, words string) (bool, error) {
	for {
		answer, err := r.question(ctx, text.Clean(words)+" [y/N] ")
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		switch strings.ToLower(answer) {
		case "y", "yes":
			return true, nil
		case "", "n", "no":
			return false, nil
		}
	}
}

// certain asks before something that is final. Where nobody can be asked, script is
// what a script says.
func (r *run) certain(ctx context.Context, question, nobody, script string) error {
	if !r.InTerminal {
		return advised(api.Errorf(api.ReasonBadValue, "yes", "%s", nobody), script)
	}
	yes, err := r.confirm(ctx, question)
	if err == nil && !yes {
		err = api.Errorf(api.ReasonCancelled, "", "Nothing was removed.")
	}
	return err
}

// secret reads a secret: from the terminal without showing it, else a line of
// the input. It is never an argument, which other accounts can see and shells keep.
func (r *run) secret(ctx context.Context, words, what string) (string, error) {
	var secret string
	var err error
	if r.Secret != nil && r.InTerminal {
		fmt.Fprint(r.Err, words)
		secret, err = r.Secret(ctx)
		fmt.Fprintln(r.Err)
	} else {
		secret, err = r.line(ctx)
	}
	if errors.Is(err, io.EOF) || err == nil && secret == "" {
		return "", advised(api.Errorf(api.ReasonBadValue, what, "No %s was entered.", what),
			fmt.Sprintf("Type the %s here, or give it on standard input.", what))
	}
	return secret, err
}

// hidden reads a line of a terminal without showing it. The terminal shows
// again what is typed when the context ends.
func hidden(fd int) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		before, err := term.GetState(fd)
		if err != nil {
			return "", err
		}
		secret, err := await(ctx, func() (string, error) {
			line, err := term.ReadPassword(fd)
			return string(line), err
		})
		if ctx.Err() != nil {
			err = errors.Join(err, term.Restore(fd, before))
		}
		return secret, err
	}
}
