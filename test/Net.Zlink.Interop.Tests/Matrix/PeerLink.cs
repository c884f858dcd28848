using System.Text;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Matrix;

/// <summary>Two sockets, one of ours and one native or both ours, connected, with the same way to send and receive whatever their types
/// are.</summary>
internal sealed class PeerLink : IDisposable
{
    private readonly TestEndpoint _endpoint;

    private PeerLink(TestEndpoint endpoint, LinkEnd ours, LinkEnd theirs)
    {
        _endpoint = endpoint;
        Ours = ours;
        Theirs = theirs;
    }

    public TestTransport Transport => _endpoint.Transport;

    public LinkEnd Ours { get; }

    public LinkEnd Theirs { get; }

    /// <summary>The ways that messages can go: both, or from the publisher only.</summary>
    public IEnumerable<(LinkEnd From, LinkEnd To)> Ways
    {
        get
        {
            if (Ours.Sends)
            {
                yield return (Ours, Theirs);
            }

            if (Theirs.Sends)
            {
                yield return (Theirs, Ours);
            }
        }
    }

    /// <summary>Connects one of ours and a native socket and waits until messages get through both ways; subscribers want
    /// everything.</summary>
    public static PeerLink Open(LinkCase row) =>
        Open(new TestEndpoint(row.Transport), row.Ours.Create(row.OurType), row.OurType, PeerKind.Native.Create(row.TheirType),
            row.TheirType, row.WeBind);

    /// <summary>The same with two of ours, in one context.</summary>
    public static PeerLink OpenOwn(ZlinkContext context, NativeSocketType oneType, NativeSocketType otherType, bool oneBinds,
        TestTransport transport) =>
        Open(new TestEndpoint(transport), new ManagedPeer(oneType, context), oneType, new ManagedPeer(otherType, context), otherType,
            oneBinds);

    private static PeerLink Open(TestEndpoint endpoint, IPeerSocket one, NativeSocketType oneType, IPeerSocket other,
        NativeSocketType otherType, bool oneBinds)
    {
        var ours = new LinkEnd(one, oneType, "ours", "theirs");
        var theirs = new LinkEnd(other, otherType, "theirs", "ours");
        var link = new PeerLink(endpoint, ours, theirs);
        try
        {
            (LinkEnd binder, LinkEnd connecter) = oneBinds ? (ours, theirs) : (theirs, ours);
            endpoint.Connect(binder.Socket, connecter.Socket);
            foreach ((LinkEnd from, LinkEnd to) in link.Ways)
            {
                LinkEnd.WaitForWay(from, to);
            }

            return link;
        }
        catch
        {
            link.Dispose();
            throw;
        }
    }

    public void Dispose()
    {
        Ours.Socket.Dispose();
        Theirs.Socket.Dispose();
        _endpoint.Dispose();
    }
}

/// <summary>One end of a link.</summary>
internal sealed class LinkEnd
{
    private readonly NativeSocketType _type;
    private readonly byte[] _peerId;

    public LinkEnd(IPeerSocket socket, NativeSocketType type, string id, string peerId)
    {
        Socket = socket;
        _type = type;
        _peerId = Encoding.UTF8.GetBytes(peerId);
        socket.SetOption(NativeOption.RoutingId, id);
        if (type is NativeSocketType.Router)
        {
            // Without it what is sent before the peer is known would be lost silently.
            socket.SetOption(NativeOption.RouterMandatory, 1);
        }
        else if (type is NativeSocketType.Sub or NativeSocketType.XSub)
        {
            socket.Subscribe("");
        }
    }

    public IPeerSocket Socket { get; }

    public bool Sends => _type is not (NativeSocketType.Sub or NativeSocketType.XSub);

    private bool IsPublisher => _type is NativeSocketType.Pub or NativeSocketType.XPub;

    /// <summary>Sends a message to the other end.</summary>
    public void Send(params byte[][] parts) => Socket.Send(Addressed(parts));

    /// <summary>The next message, without the id that a ROUTER gets in front of it, which is checked; null if there is none within the
    /// timeout.</summary>
    public byte[][]? Receive(TimeSpan timeout)
    {
        byte[][]? message = Socket.Receive(timeout);
        if (message is null || _type is not NativeSocketType.Router)
        {
            return message;
        }

        Assert.Equal(Encoding.UTF8.GetString(_peerId), Encoding.UTF8.GetString(message[0]));
        return message[1..];
    }

    /// <summary>The next message; that there is none within the limit is a failure.</summary>
    public byte[][] Receive()
    {
        byte[][]? message = Receive(Limits.Wait);
        Assert.True(message is not null, "no message came");
        return message;
    }

    /// <summary>Waits until messages get through. A publisher tells nobody that a subscription has arrived, so it publishes until something
    /// comes.</summary>
    public static void WaitForWay(LinkEnd from, LinkEnd to)
    {
        byte[] probe = "probe"u8.ToArray();
        if (from.IsPublisher)
        {
            Limits.Until("the subscription has arrived", slice =>
            {
                from.Send(probe);
                return to.Receive(slice) is not null;
            });
        }

        byte[] last = "last probe"u8.ToArray();
        from.Send(last);
        byte[] read;
        do
        {
            read = Assert.Single(to.Receive());
        }
        while (!read.AsSpan().SequenceEqual(last));
    }

    private byte[][] Addressed(byte[][] parts) => _type is NativeSocketType.Router ? [_peerId, .. parts] : parts;
}
