using Net.Zlink.Sockets;
using Net.Zlink.Transports;
using Xunit;

namespace Net.Zlink.Tests.Sockets;

/// <summary>Which listeners an unbind means.</summary>
public sealed class BoundListenersTests
{
    private readonly BoundListeners<string> _listeners = new();

    [Fact]
    public void A_listener_is_meant_by_its_text_by_its_endpoint_and_by_other_names_of_it()
    {
        Add("first", "tcp://127.0.0.1:*", "tcp://127.0.0.1:1");
        Add("second", "tcp://127.0.0.1:*", "tcp://127.0.0.1:2");
        Add("third", "tcp://*:3", "tcp://0.0.0.0:3");
        Assert.Equal(["first", "second"], Meant("tcp://127.0.0.1:*"));
        Assert.Equal(["second"], Meant("tcp://127.0.0.1:2"));
        Assert.Equal(["third"], Meant("tcp://*:3"));
        Assert.Equal(["third"], Meant("tcp://0.0.0.0:3"));
        Assert.Equal(["first"], Meant("tcp://one:1", "tcp://127.0.0.1:1"));
        Assert.Empty(Meant("tcp://one:1"));
        Assert.Equal(["first"], _listeners.Find("tcp://127.0.0.1:1", target: null).Meant());
        Assert.Empty(_listeners.Find("no endpoint", target: null).Meant());
    }

    [Fact]
    public void A_removed_listener_is_not_found_by_its_endpoint()
    {
        Add("first", "tcp://127.0.0.1:*", "tcp://127.0.0.1:1");
        Add("second", "tcp://127.0.0.1:*", "tcp://127.0.0.1:2");
        Assert.True(_listeners.Has("tcp://127.0.0.1:1"));
        Assert.False(_listeners.Has("tcp://127.0.0.1:*")); // That is what it was asked to bind, not what it is bound to.
        Assert.True(_listeners.Remove("first"));
        Assert.False(_listeners.Remove("first"));
        Assert.False(_listeners.Has("tcp://127.0.0.1:1"));
        Assert.Equal(["second"], Meant("tcp://127.0.0.1:*"));
        Assert.Empty(Meant("tcp://one:1", "tcp://127.0.0.1:1"));
        Assert.Equal(["second"], _listeners.RemoveAll());
        Assert.Empty(_listeners.All);
        Assert.Empty(Meant("tcp://127.0.0.1:2"));
    }

    [Fact]
    public void A_listener_among_thousands_is_found_by_its_endpoint_without_comparing_the_others()
    {
        const int Listeners = 2_000;
        for (int i = 0; i < Listeners; i++)
        {
            Add($"{i}", "tcp://127.0.0.1:*", $"tcp://127.0.0.1:{i}");
        }

        var target = new Target("tcp://127.0.0.1:7", "");
        Assert.Equal(["7"], _listeners.Find(target.Text, target).Meant());
        Assert.Equal(0, target.Asked);

        // Who names it in other words has all of them looked at.
        target = new Target("tcp://one:7", "tcp://127.0.0.1:7");
        Assert.Equal(["7"], _listeners.Find(target.Text, target).Meant());
        Assert.Equal(Listeners, target.Asked);
    }

    private void Add(string owner, string text, string endpoint) => _listeners.Add(owner, text, new Listener(endpoint));

    private List<string> Meant(string text, string names = "") => _listeners.Find(text, new Target(text, names)).Meant();

    /// <summary>A text that means an endpoint, and counts how often it is asked whether it does.</summary>
    private sealed class Target(string text, string names)
        : WireEndpoint(new EndpointText(TransportTable.Find(EndpointText.Tcp)!, text, ""))
    {
        public int Asked { get; private set; }

        public override BindResult Listen(TransportSettings settings) => throw new NotSupportedException();

        public override Task<DialResult> DialAsync(
            TransportSettings settings, TimeProvider time, Action? connecting, CancellationToken cancellation) =>
            throw new NotSupportedException();

        public override bool Names(ITransportListener listener)
        {
            Asked++;
            return string.Equals(listener.Endpoint, names, StringComparison.Ordinal);
        }
    }

    private sealed class Listener(string endpoint) : ITransportListener
    {
        public WireUpgrade? Upgrade => null;

        public string Endpoint => endpoint;

        public long Handle => 0;

        public void Start(IAcceptSink sink, TimeProvider time)
        {
        }

        public void Close()
        {
        }

        public void Dispose()
        {
        }
    }
}
