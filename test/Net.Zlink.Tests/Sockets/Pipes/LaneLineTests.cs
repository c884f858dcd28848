using FsCheck.Fluent;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Pipes;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineKit;

namespace Net.Zlink.Tests.Sockets.Pipes;

public sealed class LaneLineTests : IDisposable
{
    private readonly TestCore _core = TestCore.Create();

    public void Dispose()
    {
        Assert.Equal(0, _core.Host.Pool.GetStatistics().Live);
        _core.Dispose();
    }

    [Fact]
    public void Lanes_come_out_in_the_order_in_which_they_came_however_many_stand_there() =>
        ForAllArrays(Gen.Choose(-150, 150), 60, steps =>
        {
            var line = new LaneLine();
            var model = new Queue<InboundLane>();
            foreach (int step in steps)
            {
                for (int i = 0; i < step; i++)
                {
                    var lane = new InboundLane(default);
                    line.Enqueue(lane);
                    model.Enqueue(lane);
                }

                for (int i = 0; i > step; i--)
                {
                    Assert.Same(model.TryDequeue(out InboundLane? expected) ? expected : null, line.Dequeue());
                }

                Assert.Equal(model.Count, line.Count);
            }

            Assert.Equal(model, line.Clear());
            Assert.Null(line.Dequeue());
        });

    [Fact]
    public void A_hundred_peers_are_served_in_turn_whatever_their_messages_lie_in()
    {
        const int Peers = 100;
        const int Messages = 4;
        TestPipe[] pipes = [.. Enumerable.Range(0, Peers).Select(i => TestPipe.Create(_core, default, conflates: i % 7 == 0))];
        for (int m = 0; m < Messages; m++)
        {
            for (int i = 0; i < Peers; i++)
            {
                // Read from a wire, appended by a sender of this process, or long enough for memory of its own; of every seventh peer only the newest is kept.
                string text = $"{i}:{m}";
                _ = ((i + m) % 3) switch
                {
                    0 => (object)pipes[i].Publish(text),
                    1 => pipes[i].Append(text),
                    _ => pipes[i].Append(text.PadRight(OutboundChain.LargePayload, '.')),
                };
            }
        }

        var expected = new List<string>();
        for (int m = 0; m < Messages; m++)
        {
            for (int i = 0; i < Peers; i++)
            {
                if (i % 7 != 0)
                {
                    expected.Add($"{i}:{m}");
                }
                else if (m == 0)
                {
                    expected.Add($"{i}:{Messages - 1}");
                }
            }
        }

        Assert.Equal(expected, _core.Receive.Take(expected.Count).Select(text => text.TrimEnd('.')), StringComparer.Ordinal);
        Assert.Null(_core.Receive.Take());
    }

    [Fact]
    public void Peers_that_are_dropped_while_they_stand_in_line_are_passed_over()
    {
        TestPipe[] pipes = [.. Enumerable.Range(0, 90).Select(_ => TestPipe.Create(_core, default))];
        for (int i = 0; i < pipes.Length; i++)
        {
            pipes[i].Publish($"{i}:0", $"{i}:1");
        }

        for (int i = 0; i < pipes.Length; i += 2)
        {
            _core.Receive.Drop(pipes[i].Lane);
        }

        string[] left = [.. Enumerable.Range(0, 2).SelectMany(m => Enumerable.Range(0, pipes.Length).Where(i => i % 2 == 1).Select(i => $"{i}:{m}"))];
        Assert.Equal(left, _core.Receive.Take(left.Length));
        Assert.Null(_core.Receive.Take());
    }
}
