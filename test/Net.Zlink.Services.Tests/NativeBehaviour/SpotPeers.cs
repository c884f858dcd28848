using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>What both native programs do with two and three connected nodes.</summary>
internal static class SpotPeers
{
    public static async Task ExchangeOverAsync(string transport)
    {
        using var certificates = new TestCertificates();
        string endpoint = transport switch
        {
            "ipc" => "ipc://*",
            "tcp" => "tcp://127.0.0.1:*",
            _ => $"{transport}://localhost:*",
        };
        void Listen(SocketOptions options) => options.Tls.Certificate = certificates.Server;
        void Connect(SocketOptions options) =>
            (options.Tls.CaFile, options.Tls.HostName, options.Tls.TrustSystem) = (certificates.CaFile, "localhost", false);
        await ExchangeAsync(endpoint, $"{transport}:test", $"{transport}-msg",
            new SpotNodeOptions().With(options => Listen(options.PublisherSocket)).With(options => Connect(options.SubscriberSocket)));
    }

    public static async Task ExchangeAsync(string endpoint, string topic, string text, SpotNodeOptions? options = null)
    {
        await using var scene = new SpotScene();
        SpotNode a = scene.Create(options);
        SpotNode b = scene.Create(options);
        string bound = a.Bind(endpoint);
        b.Bind(endpoint.StartsWith("inproc", StringComparison.Ordinal) ? $"{endpoint}-b" : endpoint);
        b.Connect(bound);
        SpotSubscriber subscriber = b.CreateSubscriber();
        subscriber.Subscribe(topic);
        await scene.UntilFilteredAsync(a, subscriber, topic);
        Assert.True(a.TryPublish(topic, SpotScene.Bytes(text)));
        using SpotMessage message = await subscriber.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal((topic, 1, text), (message.Topic, message.PartCount, message.GetString()));
    }

    public static async Task ExchangeWithTwoAsync(string name)
    {
        await using var scene = new SpotScene();
        SpotNode a = scene.Create();
        SpotNode b = scene.Create();
        SpotNode c = scene.Create();
        c.Connect(a.Bind($"inproc://spot-multi-a-{name}"));
        c.Connect(b.Bind($"inproc://spot-multi-b-{name}"));
        SpotSubscriber subscriber = c.CreateSubscriber();
        subscriber.Subscribe("multi:topic");
        await scene.UntilFilteredAsync(a, subscriber, "multi:topic");
        await scene.UntilFilteredAsync(b, subscriber, "multi:topic");
        Assert.True(a.TryPublish("multi:topic", "from-"u8));
        Assert.True(b.TryPublish("multi:topic", "from-b"u8));
        (string Topic, string Parts)[] received = [await SpotScene.ReceiveAsync(subscriber), await SpotScene.ReceiveAsync(subscriber)];
        Assert.Equal([("multi:topic", "from-"), ("multi:topic", "from-b")], received.Order());
    }
}
