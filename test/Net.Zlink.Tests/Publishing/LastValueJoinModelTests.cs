using System.Globalization;
using FsCheck.Fluent;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Publishing;

/// <summary>Publishers and subscribers at the same time, in random numbers: whoever joins sees of each topic some number and each one
/// behind it, once, up to the last.</summary>
public sealed class LastValueJoinModelTests
{
    // Sorts behind all topics, so that a subscriber gets it last, stored or not.
    private const string End = "~";

    private static readonly string[][] Prefixes = [["t"], ["t0", "t1"], ["t", "t1"], ["t2", "t21", "t"], ["t12", "t1"], ["t9"]];

    [Theory]
    [InlineData("tcp://127.0.0.1:*")]
    [InlineData("inproc://joins")]
    public async Task A_subscriber_misses_no_value_and_gets_none_twice_whenever_it_joins(string endpoint)
    {
        FsCheck.Gen<Scene> scenes = from publishers in Gen.Choose(1, 3)
                                    from topics in Gen.Choose(1, 3)
                                    from values in Gen.Choose(1, 80)
                                    from joins in Gen.Choose(0, 100).Zip(Gen.Choose(0, Prefixes.Length - 1)).ListOf(6)
                                    select new Scene(publishers, topics, values, [.. joins]);
        foreach (Scene scene in scenes.Sample(50, SlowTests.Rounds(6, 60)))
        {
            await RunAsync(endpoint, scene);
        }
    }

    private static async Task RunAsync(string endpoint, Scene scene)
    {
        await using var fixture = new ContextFixture();
        await using var publisher = new LastValuePublisher(fixture.Context);
        string bound = publisher.Bind(endpoint);
        int published = 0;
        int all = scene.Publishers * scene.Topics * scene.Values;
        Task publishing = Task.WhenAll(Enumerable.Range(0, scene.Publishers).Select(number => Task.Run(async () =>
        {
            for (int value = 1; value <= scene.Values; value++)
            {
                for (int topic = 0; topic < scene.Topics; topic++)
                {
                    publisher.Publish($"t{number}{topic}", BitConverter.GetBytes(value));
                    Interlocked.Increment(ref published);
                }

                await Task.Yield();
            }
        })));
        Task[] joining = [.. scene.Joins.Select(join => Task.Run(async () =>
        {
            while (Volatile.Read(ref published) < (long)all * join.Percent / 100)
            {
                await Task.Yield();
            }

            await JoinAsync(fixture.Context, bound, scene, Prefixes[join.Prefixes]);
        }))];
        await publishing.Guarded();
        publisher.Publish(End, []);
        await Task.WhenAll(joining).Guarded();
    }

    private static async Task JoinAsync(ZlinkContext context, string endpoint, Scene scene, string[] prefixes)
    {
        using SubSocket subscriber = context.CreateSub();
        foreach (string prefix in prefixes.Append(End))
        {
            subscriber.Subscribe(prefix);
        }

        subscriber.Connect(endpoint);
        var last = new Dictionary<string, int>(StringComparer.Ordinal);
        while (true)
        {
            using Message message = await subscriber.ReceiveAsync(Guard.Token).Guarded();
            string topic = message.GetString();
            if (string.Equals(topic, End, StringComparison.Ordinal))
            {
                break;
            }

            int value = BitConverter.ToInt32(message[1].Span);
            Assert.True(!last.TryGetValue(topic, out int before) || value == before + 1,
                string.Create(CultureInfo.InvariantCulture, $"{topic}: {value} came behind {before}; {scene}"));
            last[topic] = value;
        }

        IEnumerable<string> wanted = Enumerable.Range(0, scene.Publishers)
            .SelectMany(number => Enumerable.Range(0, scene.Topics).Select(topic => $"t{number}{topic}"))
            .Where(topic => prefixes.Any(prefix => topic.StartsWith(prefix, StringComparison.Ordinal)));
        Assert.Equal(wanted.Select(topic => (topic, scene.Values)),
            last.OrderBy(static pair => pair.Key, StringComparer.Ordinal).Select(static pair => (pair.Key, pair.Value)));
    }

    private sealed record Scene(int Publishers, int Topics, int Values, (int Percent, int Prefixes)[] Joins);
}
