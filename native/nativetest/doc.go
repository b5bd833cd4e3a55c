// Package nativetest is the test kit of package native: a machine that lives in
// memory and really does what the interfaces promise, a clock that is moved by
// hand, and the first checks that every platform must pass.
//
// It is a small real implementation and no mock: facts change when actions are
// taken, hints follow, refusals are typed.
package nativetest
