using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Patterns;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink;

/// <summary>
/// ROUTER: receives from all peers in turn, each message with its sender's routing id, and sends to the peer with a given routing id. Its
/// peers are DEALER and ROUTER sockets.
/// </summary>
/// <remarks>
/// <para>Thread-safe. The routing id is not a part of the message: see <see cref="Message.RoutingId"/>.</para>
/// <para>
/// Without <see cref="RouterOptions.Mandatory"/>, the default, a send never waits or fails. A message to an unknown peer, or to one at its
/// high-water mark or a byte limit, is dropped, counted and reported (<see cref="Monitoring.SocketEventTypes.MessagesDropped"/>).
/// </para>
/// <para>With it TrySend returns false, SendAsync waits for capacity, and a send to an unknown peer fails.</para>
/// </remarks>
/// <example>
/// <code>
/// RouterSocket server = context.CreateRouter();
/// server.Bind("tcp://127.0.0.1:5555");
/// using Message request = await server.ReceiveAsync();
/// await server.To(request).SendAsync("reply");
/// </code>
/// </example>
public sealed class RouterSocket : ReceivingSocket
{
    internal RouterSocket(EngineHost host, InprocRegistry inproc, RouterOptions options)
        : base(new ZmpEndpoints(new RouterCore(host), inproc), options)
    {
    }

    /// <summary>The options. Each option says when a change takes effect.</summary>
    public new RouterOptions Options => (RouterOptions)base.Options;

    private new RouterCore Core => (RouterCore)base.Core;

    /// <summary>
    /// Connects to a peer and names it. The name can be sent to at once, and replaces the routing id that the peer announces. A connected
    /// endpoint stays as it is, with its name.
    /// </summary>
    /// <param name="endpoint">As for <see cref="ZmpSocket.Connect(string)"/>.</param>
    /// <param name="peerRoutingId">The name: 1 to 255 bytes, not in use on this socket.</param>
    /// <exception cref="ArgumentException">The name is empty or longer than 255 bytes.</exception>
    /// <exception cref="ZlinkException">
    /// AddressInUse: the name is in use. Otherwise as for <see cref="ZmpSocket.Connect(string)"/>.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public void Connect(string endpoint, RoutingId peerRoutingId) => ConnectAs(endpoint, Named(peerRoutingId).ToArray());

    /// <summary>Finds one peer; <see cref="ZmpSocket.GetPeers"/> returns all. The state may change before the next send.</summary>
    /// <param name="routingId">The peer's routing id, as in <see cref="Message.RoutingId"/>.</param>
    /// <param name="peer">The peer.</param>
    /// <returns>False: no peer has that id.</returns>
    public bool TryGetPeer(RoutingId routingId, [NotNullWhen(true)] out PeerInfo? peer)
    {
        peer = Core.TryFind(routingId.Span, out PeerLink? link) ? PeerInfo.For(link) : null;
        return peer is not null;
    }

    /// <summary>The peer that has a routing id when a message is sent, known or not.</summary>
    /// <remarks>
    /// Without <see cref="RouterOptions.Mandatory"/> a message that cannot be sent at once is dropped, counted and reported, and the result
    /// is as if it was sent. With it, an unknown peer is <see cref="SendFailure.NoPeer"/>, and waiting sends fail with HostUnreachable.
    /// </remarks>
    /// <param name="routingId">The routing id, as in <see cref="Message.RoutingId"/>. Its bytes must not change while the result is in
    /// use.</param>
    /// <returns>What sends to it. Costs nothing.</returns>
    /// <exception cref="ArgumentException">The routing id is empty.</exception>
    [OverloadResolutionPriority(1)] // An array is the id as it is; as a span it would be looked up first.
    public PeerSender To(RoutingId routingId) => new(this, Named(routingId));

    /// <inheritdoc cref="To(RoutingId)"/>
    /// <param name="routingId">The routing id. It is looked up by this call, and copied only if no peer has it, so its bytes may change
    /// after the call. For many messages to one peer a <see cref="RoutingId"/> is cheaper.</param>
    /// <exception cref="ArgumentException">The routing id is empty or over 255 bytes.</exception>
    public PeerSender To(ReadOnlySpan<byte> routingId) =>
        new(this, Named(Core.TryFind(routingId, out PeerLink? link) && link.RouteId is { } known ? known : routingId.ToArray()));

    /// <summary>
    /// The connection that a message came by, whatever routing id it has. Nothing is dropped, with or without
    /// <see cref="RouterOptions.Mandatory"/>: a send to a connection that has ended is <see cref="SendFailure.NoPeer"/>.
    /// </summary>
    /// <remarks>Messages on a connection that this side made stay queued for its next connection.</remarks>
    /// <param name="received">A message that this socket received, not disposed yet, or a copy of one. It may be disposed after the
    /// call.</param>
    /// <returns>What sends to it.</returns>
    /// <exception cref="ArgumentException">This socket did not receive the message.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public PeerSender To(in Message received) => new(this, ConnectionOf(received));

    /// <summary>
    /// Whether a message to this peer would be accepted now, for programs with <see cref="RouterOptions.Mandatory"/> that choose a peer
    /// first. The state may change before the send.
    /// </summary>
    /// <param name="routingId">The peer's routing id, as in <see cref="Message.RoutingId"/>.</param>
    /// <returns>
    /// False: the peer is unknown or full, or other sends wait for it. After false for a full peer, a <see cref="SocketPoller"/> and the
    /// socket's waits notice new capacity.
    /// </returns>
    /// <exception cref="ArgumentException">The routing id is empty or over 255 bytes.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public bool CanSendTo(RoutingId routingId)
    {
        ThrowIfEnded();
        return Core.CanSendTo(Named(routingId).Span);
    }

    private PeerSlot ConnectionOf(in Message received)
    {
        ThrowIfEnded();
        return received.Sender is PeerIdentity sender && !ReferenceEquals(sender, PeerIdentity.Unknown) && sender.Slot.Link is var link
            && (link is null || ReferenceEquals(link.Socket, Core)) ? sender.Slot
            : throw new ArgumentException("This is no message that a peer of this socket sent: pass a message that this ROUTER received.",
                nameof(received));
    }

    private static RoutingId Named(RoutingId routingId) => !routingId.IsEmpty ? routingId : throw new ArgumentException(
        $"The routing id of a peer has 1 to {RoutingId.MaxLength} bytes, not 0: use that of a received message, or of GetPeers().",
        nameof(routingId));

    private protected override void ApplyOptions()
    {
        base.ApplyOptions();
        Core.IsMandatory = Options.Mandatory;
        Core.OnTakenId = Options.OnDuplicateRoutingId;
        Core.ProbesRouter = Options.ProbeRouter;
    }
}
