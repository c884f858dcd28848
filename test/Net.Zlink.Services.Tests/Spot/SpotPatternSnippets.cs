using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>The snippets of docs/patterns.md about processes that all publish, compiled and run.</summary>
public sealed class SpotPatternSnippets
{
    [Fact]
    public async Task A_process_gets_the_messages_of_another_that_a_registry_has_named()
    {
        await using var scene = new SpotScene();
        ZlinkContext context = scene.Context;
        CancellationToken cancellation = Guard.Token;
        await using var registry = new Registry(context, new RegistryOptions
        {
            PublisherEndpoint = "tcp://127.0.0.1:*",
            RouterEndpoint = "tcp://127.0.0.1:*",
        });
        registry.Start();
        string registryLists = registry.PublisherEndpoint;
        string registryRequests = registry.RouterEndpoint;

        await using var discovery = new Discovery(context, ServiceKind.SpotNode);
        discovery.ConnectRegistry(registryLists);
        await using var node = new SpotNode(context);
        node.Bind("tcp://127.0.0.1:*");
        node.ConnectRegistry(registryRequests);
        node.Register();
        node.UseDirectory(discovery);

        SpotNode other = scene.Create();
        other.Bind("tcp://127.0.0.1:*");
        other.ConnectRegistry(registryRequests);
        await other.RegisterAsync(cancellationToken: Guard.Token).Guarded();
        await node.WaitForPeersAsync(1, Guard.Token).Guarded();
        var shown = new TaskCompletionSource<string>();
        void Show(string topic, ReadOnlySpan<byte> body)
        {
            shown.TrySetResult(topic + " " + Encoding.UTF8.GetString(body));
            node.Dispose(); // Ends the loop of the snippet.
        }

        Task publishing = Task.Run(async () =>
        {
            while (!shown.Task.IsCompleted)
            {
                other.TryPublish("room:7", "hello"u8);
                await Task.Yield();
            }
        }, Guard.Token);

        await using SpotSubscriber rooms = node.CreateSubscriber(
            new SpotSubscriberOptions { Capacity = 1_000, Overflow = SpotOverflow.DropOldest });
        rooms.SubscribePrefix("room:");
        await foreach (SpotMessage message in rooms.ReceiveAllAsync(cancellation))
        {
            using (message)
            {
                Show(message.Topic, message.Span);
            }
        }

        await publishing.Guarded();
        Assert.Equal("room:7 hello", await shown.Task.Guarded());
    }
}
