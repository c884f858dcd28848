namespace Net.Zlink.Scenarios.Wire;

/// <summary>Waiting on a stream without a buffer.</summary>
internal static class StreamWaiting
{
    /// <summary>Completes when there is something to read, the end included.</summary>
    public static async ValueTask WaitForDataAsync(this Stream stream)
    {
        // A read of no bytes returns none; that it returns is what it says.
        int none = await stream.ReadAsync(Memory<byte>.Empty);
        System.Diagnostics.Debug.Assert(none == 0, "A read of no bytes read some.");
    }
}
