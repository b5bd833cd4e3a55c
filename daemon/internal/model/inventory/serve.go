package inventory

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"fulmen/daemon/api"
	"fulmen/native"
)

// What a daemon and the process that reads for it say to each other is JSON, one value a
// line: the places first, then questions, each with its answers up to the last.

const (
	// maxQuestion is the longest line that the process reads, in bytes.
	maxQuestion = 1 << 20
	// MaxLine is the longest that it writes, in bytes.
	MaxLine = 2 << 20
)

// Question is what a daemon asks: for the list where nothing else is set.
type Question struct {
	// Show and Verify name a model.
	Show   *api.ModelSelect `json:"show,omitempty"`
	Verify *api.ModelSelect `json:"verify,omitempty"`
	// Remove says what to remove.
	Remove *api.ModelRemoveParams `json:"remove,omitempty"`
}

// Answer has the field that was asked for, or an error.
type Answer struct {
	List     *api.ModelListResult   `json:"list,omitempty"`
	Show     *api.ModelShowResult   `json:"show,omitempty"`
	Progress *api.ModelProgress     `json:"progress,omitempty"`
	Removed  *api.ModelRemoveResult `json:"removed,omitempty"`
	Error    *api.Error             `json:"error,omitempty"`
	// More says that another answer follows.
	More bool `json:"more,omitempty"`
}

// Serve answers questions until there are no more. It is the whole of a process that
// runs as the account whose models are asked for.
func Serve(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxQuestion)
	var places Places
	if !lines.Scan() {
		return errors.Join(errors.New("nobody asked"), lines.Err())
	}
	if err := json.Unmarshal(lines.Bytes(), &places); err != nil {
		return fmt.Errorf("the places: %w", err)
	}
	all := Open(places)
	defer all.Close()
	answers := json.NewEncoder(out)
	for lines.Scan() {
		var q Question
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return fmt.Errorf("a question: %w", err)
		}
		if err := all.answer(q, answers.Encode); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (i *Inventory) answer(q Question, send func(any) error) error {
	switch {
	case q.Verify != nil:
		return i.Verify(context.Background(), *q.Verify, func(p api.ModelProgress, isLast bool) error {
			return send(Answer{Progress: &p, More: !isLast})
		})
	case q.Remove != nil:
		removed, err := i.Remove(q.Remove.ModelSelect, q.Remove.DryRun)
		if err != nil {
			return send(Answer{Error: whyNotRemoved(q.Remove.Model, err)})
		}
		return send(Answer{Removed: &removed})
	case q.Show != nil:
		shown, err := i.Show(*q.Show)
		if err != nil {
			return send(Answer{Error: api.AsError(err)})
		}
		return send(Answer{Show: &shown})
	}
	list := i.List()
	return send(Answer{List: &list})
}

// whyNotRemoved is what a person gets to know of an error.
func whyNotRemoved(model string, err error) *api.Error {
	if known, ok := errors.AsType[*api.Error](err); ok {
		return known
	}
	reason := whyUnread(err)
	if reason != api.ReasonPermissionDenied {
		reason = api.ReasonInternal
	}
	return api.Errorf(reason, model, "%s could not be removed whole%s.", model, native.ErrnoSuffix(err)).WithRemedy("Remove it again: what is left is found.")
}
