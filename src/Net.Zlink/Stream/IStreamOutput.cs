using System.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>Where the payloads of a <see cref="StreamPeer"/> are queued: its socket, or a unit test of a handler.</summary>
internal interface IStreamOutput
{
    SendResult TrySend(StreamLink link, ReadOnlySpan<byte> payload);

    /// <summary><paramref name="timeout"/>: null: the option, which is read only before a wait.</summary>
    void Send(StreamLink link, ReadOnlySpan<byte> payload, TimeSpan? timeout);

    /// <summary><paramref name="owner"/>: disposed after an accepted send, or null.</summary>
    ValueTask SendAsync(StreamLink link, ReadOnlyMemory<byte> payload, IMemoryOwner<byte>? owner, CancellationToken cancellation);

    bool Disconnect(StreamLink link, CloseMode mode);
}
