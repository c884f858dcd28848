using System.Globalization;
using FsCheck.Fluent;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Sockets.Links;

/// <summary>A filter that changes at any moment between letting a message in and its being read, beside a model.</summary>
public sealed class ReceiveQueueFilterModelTests
{
    // Three topics, of each of which a set of eight has it or not; and what else is done.
    private const int Sets = 8;
    private const int Steps = Sets + 7;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Received_messages_pass_the_current_filter_and_none_that_always_passed_is_missing(bool looksFirst) =>
        ForAllArrays(Gen.Choose(0, Steps - 1), 80, steps =>
        {
            using var core = TestCore.Create(ZmpSocketType.Sub);
            var run = new Run(core, looksFirst);
            foreach (int step in steps)
            {
                run.Take(step);
            }

            run.End();
        });

    private sealed class Run
    {
        private readonly TestCore _core;
        private readonly TestLink _link;
        private readonly bool _looksFirst;
        private readonly Queue<InboundLease> _onTheirWay = new();

        // By number: whether it was wanted all along since it was let in.
        private readonly SortedDictionary<int, bool> _letIn = [];
        private int _wanted = Sets - 1;
        private int _next;
        private long _read;

        public Run(TestCore core, bool looksFirst)
        {
            _core = core;
            _looksFirst = looksFirst;
            _link = TestLink.Create(core, new QueueLimits(6, 0));
            _core.Wanted = IsWanted;
        }

        public void Take(int step)
        {
            switch (step)
            {
                case < Sets:
                    Change(step);
                    break;
                case < Sets + 2:
                    Accept(messages: step - Sets + 1);
                    break;
                case Sets + 2:
                    Publish();
                    break;
                case Sets + 3:
                    Append();
                    break;
                default:
                    Read();
                    break;
            }
        }

        public void End()
        {
            while (_onTheirWay.Count > 0)
            {
                Publish();
            }

            while (Read())
            {
                // And the next.
            }

            QueueCounts counters = _link.Lane.Counts;
            Assert.Equal((_read, 0L, 0L), (counters.TakenMessages, counters.QueuedMessages, counters.QueuedBytes));
            Assert.Equal(counters.AcceptedMessages, counters.TakenMessages + counters.DroppedMessages);
        }

        private static string TextOf(int number) => string.Create(CultureInfo.InvariantCulture, $"{(char)('a' + (number % 3))}{number}");

        private bool IsWanted(string text) => (_wanted & (1 << (text[0] - 'a'))) != 0;

        private void Change(int wanted)
        {
            _wanted = wanted;
            _core.Narrowed();
            foreach (int number in _letIn.Keys.ToArray())
            {
                _letIn[number] &= IsWanted(TextOf(number));
            }
        }

        /// <summary>Lets the next so many in that are wanted; they are not in the lane yet.</summary>
        private void Accept(int messages)
        {
            if (_wanted == 0)
            {
                return;
            }

            InboundLease lease = _link.LeaseOf([.. Enumerable.Range(0, messages).Select(_ => TextOf(NextWanted()))]);
            lease.CheckedAtVersion = _core.FilterVersion;
            _onTheirWay.Enqueue(lease);
        }

        private void Publish()
        {
            if (_onTheirWay.TryDequeue(out InboundLease? lease))
            {
                _link.Publish(lease);
            }
        }

        /// <summary>As a sender in this process: what is on its way from the wire is another's, so it comes first.</summary>
        private void Append()
        {
            if (_wanted == 0 || _onTheirWay.Count > 0)
            {
                return;
            }

            int number = NextWanted();
            if (_link.Append(TextOf(number), _core.FilterVersion) != SendStatus.Accepted)
            {
                _letIn.Remove(number);
            }
        }

        private int NextWanted()
        {
            while (!IsWanted(TextOf(_next)))
            {
                _next++;
            }

            _letIn.Add(_next, value: true);
            return _next++;
        }

        private bool Read()
        {
            bool? isThere = _looksFirst ? _core.Receive.IsReadable : null;
            string? text = _core.Receive.Take();
            Assert.Equal(isThere ?? text is not null, text is not null);
            int number = text is null ? int.MaxValue : int.Parse(text.AsSpan(1), CultureInfo.InvariantCulture);
            int unread = _onTheirWay.Sum(static lease => lease.Messages);
            foreach ((int passed, bool wasWanted) in _letIn.SkipLast(unread).TakeWhile(entry => entry.Key < number).ToArray())
            {
                Assert.False(wasWanted, $"{TextOf(passed)} is missing");
                _letIn.Remove(passed);
            }

            if (text is null)
            {
                return false;
            }

            Assert.True(IsWanted(text), $"{text} is not wanted");
            Assert.True(_letIn.Remove(number), $"{text} comes once more");
            _read++;
            return true;
        }
    }
}
