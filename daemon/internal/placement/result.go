package placement

import (
	"fmt"
	"strconv"

	"fulmen/daemon/api"
)

// MaxRejections bounds the rejected sets that a result names.
const MaxRejections = 16

// MaxRemedies bounds the remedies that a result names.
const MaxRemedies = 8

// Result is a plan, or why there is none.
type Result struct {
	// Plan is the best one; nil where there is none. Its hosts are addresses without ports.
	Plan *api.Plan
	// Rejections are sets of nodes that cannot, each with the first thing that stops it, the
	// nearest misses first, at most MaxRejections. A set is empty where the spec itself is at
	// fault. Beside a plan they are those of the backends that would have come before it.
	Rejections []api.PlanRejection
	// Remedies are single changes that would each make it possible, the least first, at most
	// MaxRemedies; none where there is a plan, and where the input is brief.
	Remedies []api.Cause
	// Final says that no change of the cluster helps: the spec contradicts itself.
	Final bool
}

// Wire is the result as the API gives it.
func (r Result) Wire() api.JobPlanResult {
	return api.JobPlanResult{Plan: r.Plan, Rejections: r.Rejections, Remedies: r.Remedies}
}

// Err says why there is no plan; nil where there is one. Its reason is the
// first cause's, and its causes are those of the rejections, each once.
func (r Result) Err() *api.Error {
	if r.Plan != nil {
		return nil
	}
	if len(r.Rejections) == 0 {
		return api.NewError(api.ReasonNotEnoughNodes, "")
	}
	first := r.Rejections[0]
	err := api.NewError(first.Reason, first.Subject)
	err.Message = first.Message
	if len(first.Nodes) > 1 {
		err.Message = fmt.Sprintf("%s cannot join %s: %s", first.Backend, counted(len(first.Nodes), "rank"), first.Message)
	}
	seen := map[api.Cause]bool{}
	for _, rejection := range r.Rejections {
		if !seen[rejection.Cause] {
			seen[rejection.Cause] = true
			err.Data.Causes = append(err.Data.Causes, rejection.Cause)
		}
	}
	if len(r.Remedies) > 0 {
		err.Data.Remedy = r.Remedies[0].Message
	}
	return err
}

// causeOf makes a cause with a message of its own; the remedy is the table's.
func causeOf(reason api.Reason, subject, format string, args ...any) api.Cause {
	info, _ := api.LookupReason(reason)
	return api.Cause{Reason: reason, Message: fmt.Sprintf(format, args...), Subject: subject, Remedy: info.Remedy}
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// gibibytes is a size for people, rounded down, so that it can be asked for.
func gibibytes(bytes int64) string {
	return trimmed(float64(bytes)/(1<<30)) + " GiB"
}

// gigabits is a speed for people, in 10^9 bits a second.
func gigabits(bitsPerS int64) string {
	return trimmed(float64(bitsPerS)/1e9) + " Gb/s"
}

// trimmed is a number with at most one decimal.
func trimmed(f float64) string {
	return strconv.FormatFloat(float64(int64(f*10))/10, 'f', -1, 64)
}

// pairSubject names a pair of nodes in a cause.
func pairSubject(a, b *Node) string { return string(a.ID) + "~" + string(b.ID) }
