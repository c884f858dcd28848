namespace Net.Zlink.Sockets;

internal enum GreetingOccasion
{
    NewLink,

    FirstConnection,

    NextConnection,
}
