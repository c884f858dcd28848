using Net.Zlink.Interop.Tests.Native;

namespace Net.Zlink.Interop.Tests.Peers;

/// <summary>
/// A socket of either implementation, with the native core's conventions: options by their native numbers, a ROUTER's messages with the
/// peer's id as their first
/// part. One thread at a time, as the core wants it. A fresh one has LINGER 0.
/// </summary>
internal interface IPeerSocket : IDisposable
{
    /// <summary>Listens, and returns the endpoint with the port that was chosen.</summary>
    string Bind(string endpoint);

    void Connect(string endpoint);

    void Unbind(string endpoint);

    void Disconnect(string endpoint);

    void SetOption(int option, int value);

    void SetOption(int option, ReadOnlySpan<byte> value);

    /// <summary>Sets an option; 0, or an error's number.</summary>
    int TrySetOption(int option, ReadOnlySpan<byte> value);

    /// <summary>What is read of an option into so much room, or an error's number, as <see cref="OptionText"/>.</summary>
    string TryGetOption(int option, int capacity);

    /// <summary>On SUB and XSUB: asks for messages that begin so.</summary>
    void Subscribe(ReadOnlySpan<byte> prefix);

    /// <summary>On SUB and XSUB: takes one <see cref="Subscribe"/> back.</summary>
    void Unsubscribe(ReadOnlySpan<byte> prefix);

    /// <summary>Sends all parts as one message; waits for room so long.</summary>
    PeerSendResult Send(IReadOnlyList<byte[]> parts, TimeSpan timeout);

    /// <summary>The next whole message, or null after the timeout.</summary>
    byte[][]? Receive(TimeSpan timeout);

    /// <summary>Has the socket take in what its peers did, which the native core does only when it is called.</summary>
    void Attend();

    /// <summary>The next event since the socket was made, or null after the timeout.</summary>
    PeerEvent? NextEvent(TimeSpan timeout);
}

/// <summary>What became of a message.</summary>
internal enum PeerSendResult
{
    Sent,

    /// <summary>No room, or no peer, within the timeout.</summary>
    WouldBlock,

    /// <summary>A ROUTER with the mandatory option knows no such peer.</summary>
    Unreachable,
}
