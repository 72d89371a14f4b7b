/* program.c: `rapt` in the Python package: all of it is in the library beside the extension, which has the code once. */
int rapt_main(int argc, char **argv);

int main(int argc, char **argv)
{
    return rapt_main(argc, argv);
}
