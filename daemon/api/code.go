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

// Codes lists every code in numeric order.
func Codes() []Code {
	return []Code{CodeInvalid, CodeNotFound, CodeConflict, CodeDenied, CodeUnauthenticated, CodeUnreachable,
		CodeDeadline, CodeExhausted, CodePrecondition, CodeUnsupported, CodeCancelled, CodeInternal}
}

// String is the code's stable name in snake_case.
func (c Code) String() string {
	switch c {
	case CodeInvalid:
		return "invalid"
	case CodeNotFound:
		return "not_found"
	case CodeConflict:
		return "conflict"
	case CodeDenied:
		return "denied"
	case CodeUnauthenticated:
		return "unauthenticated"
	case CodeUnreachable:
		return "unreachable"
	case CodeDeadline:
		return "deadline"
	case CodeExhausted:
		return "exhausted"
	case CodePrecondition:
		return "precondition"
	case CodeUnsupported:
		return "unsupported"
	case CodeCancelled:
		return "cancelled"
	case CodeInternal:
		return "internal"
	}
	return "code_" + strconv.Itoa(int(c))
}

// Error makes a code a target for errors.Is.
func (c Code) Error() string { return c.String() }
