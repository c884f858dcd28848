using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Net.Zlink.Tests.Transports;
using Net.Zlink.Tests.Transports.Tls;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Over tls with client certificates, a newcomer can replace a silent holder of its routing id only with the same
/// subject.</summary>
public sealed class SilentHolderCertificateTests : IDisposable
{
    private static readonly byte[] Id = "client"u8.ToArray();

    private readonly Authorities _own = new();

    public void Dispose() => _own.Dispose();

    [Fact]
    public async Task A_silent_holder_with_a_certificate_is_replaced_by_a_newcomer_of_the_same_subject_only()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: time);
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { RoutingId = "server"u8.ToArray(), Linger = TimeSpan.Zero });
        router.Options.Tls.Certificate = _own.Server;
        router.Options.Tls.CaFile = _own.CaFile;
        router.Options.Tls.RequireClientCertificate = true;
        string endpoint = router.Bind("tls://127.0.0.1:*");
        LayeredClient holder = await ConnectAsync(fixture, endpoint, "CN=alice");
        (await router.ReceiveAsync(Guard.Token).Guarded()).Dispose();

        LayeredClient other = await ConnectAsync(fixture, endpoint, "CN=bob");
        await other.ReadToEndAsync();
        Assert.Equal(1, router.GetStatistics().RefusedConnections);

        LayeredClient same = await ConnectAsync(fixture, endpoint, "CN=alice");
        byte[] question = ZmpFixture.Control("02 0000 00");
        byte[] greeting = ZmpFixture.Greeting((byte)Net.Zlink.Protocol.Zmp.ZmpSocketType.Router, "server"u8);
        byte[] read = await holder.ReadAsync(greeting.Length + question.Length);
        Assert.Equal([.. greeting, .. question], read);
        time.Advance(TimeSpan.FromSeconds(2));
        using Message message = await router.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("CN=alice", message.RemoteCertificate!.Subject);
        Assert.Empty(await holder.ReadToEndAsync());
        Assert.Equal(1, router.GetStatistics().RefusedConnections);
    }

    private async Task<LayeredClient> ConnectAsync(ContextFixture fixture, string endpoint, string subject)
    {
        LayeredClient client = fixture.Own(await LayeredClient.ConnectAsync(endpoint, _own.Issue(subject, ["localhost"])));
        await client.SendAsync([.. ZmpFixture.DealerGreeting(Id), .. ZmpFixture.Frame(0, "hello"u8)]);
        return client;
    }
}
