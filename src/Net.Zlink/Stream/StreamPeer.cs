using System.Buffers;
using System.Net;
using System.Runtime.CompilerServices;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>One peer of a <see cref="StreamSocket"/>. Its messages have one part. Thread-safe.</summary>
public sealed class StreamPeer : IMessageSender
{
    private readonly IStreamOutput _output;
    private readonly StreamLink _link;

    internal StreamPeer(IStreamOutput output, StreamLink link)
    {
        _output = output;
        _link = link;
    }

    /// <summary>Creates a peer without a connection, for a unit test of a <see cref="StreamHandler"/>.</summary>
    /// <example>
    /// <code>
    /// List&lt;byte[]&gt; sent = [];
    /// StreamPeer peer = StreamPeer.Create(payload =&gt; { sent.Add(payload.ToArray()); return SendResult.Sent; });
    /// await handler.OnReceivedAsync(peer, StreamFrames.Create("hello"u8.ToArray()));
    /// </code>
    /// </example>
    /// <param name="send">
    /// Gets a copy of each sent payload, on the sender's thread. Returns <see cref="SendResult.Sent"/>, or the reason that the send then
    /// has, such as Full: the peer does not read. Sends that wait throw the matching exception. After <see cref="Disconnect"/> it is not
    /// called: the reason is NoPeer.
    /// </param>
    /// <param name="id">The <see cref="Id"/>.</param>
    /// <returns>The peer. It has no addresses, and its statistics are zero.</returns>
    public static StreamPeer Create(Func<ReadOnlyMemory<byte>, SendResult> send, uint id = 1)
    {
        ArgumentNullException.ThrowIfNull(send);
        return new StreamPeer(new TestStreamOutput(send), new StreamLink(id, "", origin: null, wire: null));
    }

    /// <summary>The id on the socket: 1, 2, 3 ... in order of arrival. It is not reused before the 32 bits wrap.</summary>
    public uint Id => _link.Id;

    /// <summary>The peer's address.</summary>
    public EndPoint? RemoteEndPoint => _link.Wire?.RemoteEndPoint;

    /// <summary>
    /// The peer's certificate over tls and wss, or null. A listener asks for one with <see cref="TlsOptions.RequireClientCertificate"/>.
    /// The connection owns it: do not dispose it.
    /// </summary>
    public X509Certificate2? RemoteCertificate => _link.Wire?.RemoteCertificate;

    /// <summary>The peer's upgrade request, if it was accepted over ws or wss, or null.</summary>
    public WebSocketRequest? WebSocketRequest =>
        global::Net.Zlink.WebSocketRequest.Of(_link.Wire?.Request, RemoteEndPoint, RemoteCertificate);

    /// <summary>
    /// The sub-protocol over ws and wss that both sides agreed on, or null. See <see cref="WebSocketTransportOptions.SubProtocols"/>.
    /// </summary>
    public string? SubProtocol => _link.Wire?.SubProtocol;

    /// <summary>What the application passed to <see cref="ZlinkSocket.AcceptAsync"/>, or null.</summary>
    public PeerDetails? Details => _link.Wire?.Details;

    /// <summary>This side's address on the connection.</summary>
    public EndPoint? LocalEndPoint => _link.Wire?.LocalEndPoint;

    /// <summary>The endpoint that accepted it, or the text that was connected. The query of a ws or wss endpoint is "?…".</summary>
    public string Endpoint => _link.Endpoint.ToString();

    /// <summary>An object that the application keeps with this peer. The library ignores it.</summary>
    public object? UserState
    {
        get => Volatile.Read(ref field);
        set => Volatile.Write(ref field, value);
    }

    /// <inheritdoc/>
    public SendResult TrySend(ReadOnlySpan<byte> payload) => _output.TrySend(_link, payload);

    /// <inheritdoc/>
    public SendResult TrySend(MessageBuilder message)
    {
        SendResult result = _output.TrySend(_link, OnlyPart(message));
        if (result)
        {
            message.Clear();
        }

        return result;
    }

    /// <inheritdoc/>
    public SendResult TrySend(in Message message)
    {
        if (message.PartCount > 1)
        {
            return SendFailure.TooManyParts;
        }

        SendResult result = _output.TrySend(_link, message.Span);
        if (result)
        {
            message.Dispose();
        }

        return result;
    }

    /// <inheritdoc/>
    public void Send(ReadOnlySpan<byte> payload, TimeSpan? timeout = null) =>
        _output.Send(_link, payload, OptionRange.WaitTime(timeout));

    /// <inheritdoc/>
    public ValueTask SendAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellationToken = default) =>
        _output.SendAsync(_link, payload, owner: null, forwarded: default, cancellationToken);

    /// <inheritdoc/>
    public ValueTask SendAsync(MessageBuilder message, CancellationToken cancellationToken = default)
    {
        if (cancellationToken.IsCancellationRequested)
        {
            return ValueTask.FromCanceled(cancellationToken);
        }

        ReadOnlySpan<byte> part = OnlyPart(message);
        if (_output.TrySend(_link, part))
        {
            message.Clear();
            return default;
        }

        // The builder's memory may move, so the rare send that waits copies its part once more.
        return SendCopyAsync(SendWaits.CopyOf(part, message.Encoded.Pool), part.Length, message, cancellationToken);
    }

    /// <inheritdoc/>
    public ValueTask SendAsync(in Message message, CancellationToken cancellationToken = default)
    {
        ThrowUnlessOnePart(message.PartCount, nameof(message));
        return _output.SendAsync(_link, message.Memory, owner: null, message, cancellationToken);
    }

    /// <summary>
    /// Forwards a handler's frames to this peer in order without waiting, without a copy of long ones. The frames stay valid as before.
    /// </summary>
    /// <remarks>Forwarded frames keep their receive buffer until they are written.</remarks>
    /// <param name="frames">A handler's frames, while they are valid.</param>
    /// <returns>How many were accepted, from the first on. Fewer than all if the peer has no capacity or has disconnected.</returns>
    public int SendMany(StreamFrames frames)
    {
        if (frames.Count > 0 && frames.TrySendTo(_link) == SendStatus.Accepted)
        {
            return frames.Count;
        }

        int sent = 0;
        foreach (ReadOnlyMemory<byte> frame in frames)
        {
            if (!_output.TrySend(_link, frame.Span))
            {
                break;
            }

            sent++;
        }

        return sent;
    }

    /// <summary>Ends the connection. The id is invalid at once. Idempotent.</summary>
    /// <param name="abort">
    /// False: accepted payloads are still written within <see cref="SocketOptions.Linger"/>, by default without limit. True, for a peer
    /// that does not read: the connection ends at once, also after a call with false. Unwritten payloads are dropped and counted.
    /// </param>
    public void Disconnect(bool abort = false)
    {
        if (!_output.Disconnect(_link, abort ? CloseMode.Abort : CloseMode.Orderly) && abort)
        {
            _link.RequestClose(DisconnectReason.Local, CloseMode.Abort);
        }
    }

    /// <summary>Returns the statistics of this peer.</summary>
    /// <returns>A snapshot.</returns>
    public PeerStatistics GetStatistics() => new(_link);

    /// <summary>Returns id and address, for logs.</summary>
    /// <returns>A short text.</returns>
    public override string ToString() => $"peer {Id} ({RemoteText})";

    internal string RemoteText => _link.RemoteText;

    internal string Describe()
    {
        PeerStatistics one = GetStatistics();
        string state = one.IsPaused ? "not read: the application receives too slowly" : "connected";
        return FormattableString.Invariant($"{this} by {DescriptionText.Quoted(Endpoint)}: {state}, sent {one.WrittenMessages}, ")
            + FormattableString.Invariant($"to send {one.QueuedMessages} ({one.QueuedBytes} bytes), received {one.ReceivedMessages}, ")
            + FormattableString.Invariant($"unread {one.UnreadMessages}, last read {DescriptionText.Ago(one.SinceLastRead)}, ")
            + $"last write {DescriptionText.Ago(one.SinceLastWrite)}";
    }

    // These are called by the extension methods of the same names.
    internal void Send(MessageBuilder message, TimeSpan? timeout)
    {
        _output.Send(_link, OnlyPart(message), OptionRange.WaitTime(timeout));
        message.Clear();
    }

    internal void Send(in Message message, TimeSpan? timeout)
    {
        ThrowUnlessOnePart(message.PartCount, nameof(message));
        _output.Send(_link, message.Span, OptionRange.WaitTime(timeout));
        message.Dispose();
    }

    internal ValueTask SendAsync(IMemoryOwner<byte> payload, int length, CancellationToken cancellation) =>
        _output.SendAsync(_link, payload.Memory[..length], payload, forwarded: default, cancellation);

    private static ReadOnlySpan<byte> OnlyPart(MessageBuilder message)
    {
        ArgumentNullException.ThrowIfNull(message);
        ThrowUnlessOnePart(message.Encoded.Parts, nameof(message));
        return message[0];
    }

    private static void ThrowUnlessOnePart(int parts, string argument)
    {
        if (parts != 1)
        {
            throw new ArgumentException($"A message to a STREAM peer has one part, not {parts}: a frame holds one payload.", argument);
        }
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask SendCopyAsync(IMemoryOwner<byte> copy, int length, MessageBuilder message, CancellationToken cancellation)
    {
        try
        {
            await _output.SendAsync(_link, copy.Memory[..length], copy, forwarded: default, cancellation).ConfigureAwait(false);
        }
        catch
        {
            copy.Dispose(); // It still belongs to this method, and the message to the caller.
            throw;
        }

        message.Clear();
    }
}
