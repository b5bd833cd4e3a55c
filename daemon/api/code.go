package api

import "strconv"

// Code is the group an error belongs to: what a program does next. It is the
// code of a JSON-RPC error. The numbers are fixed; the finer key is Reason.
// A Code is itself an error, for errors.Is.
type Code int

const (
	// CodeInvalid is a request that can never work as it is: a malformed value, a rule of the spec broken.
	CodeInvalid Code = 1
	// CodeNotFound names something that is not there.
	CodeNotFound Code = 2
	// CodeConflict is a request that the present state contradicts: already there, changed meanwhile, held by another.
	CodeConflict Code = 3
	// CodeDenied is a caller that is known and may not.
	CodeDenied Code = 4
	// CodeUnauthenticated is a caller that has not shown who it is.
	CodeUnauthenticated Code = 5
	// CodeUnreachable is a node or service that did not answer at all.
	CodeUnreachable Code = 6
	// CodeDeadline is a wait that ended; WaitingFor says for what and on whom.
	CodeDeadline Code = 7
	// CodeExhausted is a limit reached: memory, descriptors, attempts, a budget.
	CodeExhausted Code = 8
	// CodePrecondition is something that must be put right first; Remedy says what.
	CodePrecondition Code = 9
	// CodeUnsupported is what this platform, version or hardware cannot do.
	CodeUnsupported Code = 10
	// CodeCancelled is work ended on request.
	CodeCancelled Code = 11
	// CodeInternal is a defect of Fulmen; the log has the cause.
	CodeInternal Code = 12
)

var codeNames = [...]string{
	CodeInvalid: "invalid", CodeNotFound: "not_found", CodeConflict: "conflict", CodeDenied: "denied", CodeUnauthenticated: "unauthenticated",
	CodeUnreachable: "unreachable", CodeDeadline: "deadline", CodeExhausted: "exhausted", CodePrecondition: "precondition",
	CodeUnsupported: "unsupported", CodeCancelled: "cancelled", CodeInternal: "internal",
}

// Codes lists every code in numeric order.
func Codes() []Code {
	all := make([]Code, len(codeNames)-1) // from 1 on
	for i := range all {
		all[i] = Code(i + 1)
	}
	return all
}

// String is the code's stable name in snake_case.
func (c Code) String() string {
	if c > 0 && int(c) < len(codeNames) {
		return codeNames[c]
	}
	return "code_" + strconv.Itoa(int(c))
}

// Error makes a code a target for errors.Is.
func (c Code) Error() string { return c.String() }
