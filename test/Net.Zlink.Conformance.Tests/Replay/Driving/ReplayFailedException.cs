namespace Net.Zlink.Conformance.Tests.Replay.Driving;

/// <summary>The implementation did something else than the transcript says. The message says what, and in which step.</summary>
internal sealed class ReplayFailedException(string message, Exception? cause = null) : Exception(message, cause);
