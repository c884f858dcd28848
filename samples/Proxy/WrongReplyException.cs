namespace ProxySample;

/// <summary>A reply was not what it should be: the demo has failed.</summary>
internal sealed class WrongReplyException(string message) : Exception(message);
