namespace Net.Zlink.Benchmarks.Common;

/// <summary>What was asked for cannot be done; the message is one line that says what to do.</summary>
internal sealed class RequestException : Exception
{
    public RequestException(string message)
        : base(message)
    {
    }

    public RequestException(string message, Exception inner)
        : base(message, inner)
    {
    }

    public RequestException()
    {
    }
}
